import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agents } from '#db/schema/index.ts';
import de from '#locales/de/errors.json' with { type: 'json' };
import { defaultLimits } from '#server/platform/limits.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

let door: RestDoor;
let id: string;

const handler = 'Acme.Lab.Probe';
const unknownId = '00000000-0000-4000-8000-000000000000';
const operator = { as: 'operator' as const };
const viewer = { as: 'viewer' as const };
const sent = (body: unknown, headers: Record<string, string> = {}) => ({ as: 'operator' as const, body, headers });
const goal = (changes: Record<string, unknown> = {}) => ({ handler, version: '1.0.0.0', state: 'enabled', ...changes });
const paths = (problem: { errors?: { path: string }[] }) => problem.errors?.map(({ path }) => path) ?? [];

interface Receipt {
  incarnation: number;
  sequenceNumber: number;
}

beforeAll(async () => {
  // Gives checks of settings more time, because a busy machine starts threads slowly. The time limit of these checks is
  // tested elsewhere.
  const limits = { ...defaultLimits, settings: { ...defaultLimits.settings, checkMs: 15_000 } };
  door = await openRestDoor({ config: { limits, wire: true } });
  const { db } = door.services;
  const port = { type: 'object', properties: { port: { type: 'integer' } }, required: ['port'] };
  const key = { type: 'object', properties: { key: { type: 'string', minLength: 4 } } };
  await givenVersion(db, { settingsSchema: { publicSettings: port, protectedSettings: key } });
  await givenVersion(db, { version: '2.0.0.0', settingsSchema: {} });
  await givenVersion(db, { version: '3.0.0.0', state: 'draft' });
  await givenVersion(db, { version: '4.0.0.0', state: 'withdrawn' });
  await givenVersion(db, { handler: 'Acme.Lab.Other' });
});
afterAll(() => door.close());

describe('VMs', () => {
  test('a VM is created with its enrollment token', async () => {
    type Answer = { id: string; enrollmentExpiresAt: string };
    const made = await door.expect<Answer>('createVm', {}, 201, sent({ name: 'web-1', tags: { site: 'a' } }));
    id = made.id;
    const hours = (Date.parse(made.enrollmentExpiresAt) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(23.9);
    expect(hours).toBeLessThanOrEqual(24);
    await door.expect('createVm', {}, [409, 'vm_name_taken'], sent({ name: 'web-1' }));
    await door.expect('createVm', {}, 201, sent({ name: 'web-2' }));
  });

  test("one response lists all faults, in the caller's language", async () => {
    const body = { name: '', tags: { a: 1 }, extra: true };
    const call = sent(body, { 'accept-language': 'de-AT, en;q=0.3' });
    type Answer = { detail: string; errors: { path: string; message: string }[] };
    const problem = await door.expect<Answer>('createVm', {}, [422, 'invalid'], call);
    expect(problem.detail).toBe(de.invalid);
    expect(new Set(paths(problem))).toEqual(new Set(['/extra', '/name', '/tags/a']));
    expect(problem.errors.find(({ path }) => path === '/extra')?.message).toBe(de.field_unknown);
    expect(paths(await door.expect('createVm', {}, 422, sent({})))).toEqual(['/name']);
  });

  test('tags are limited', async () => {
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`t${index}`, 'x']));
    await door.expect('createVm', {}, 422, sent({ name: 'many', tags: many }));
    await door.expect('createVm', {}, 422, sent({ name: 'long', tags: { a: 'x'.repeat(257) } }));
    await door.expect('createVm', {}, 201, sent({ name: 'fits', tags: { a: 'x'.repeat(256) } }));
  });

  test('VMs are listed by name, page by page, and read', async () => {
    type Page = { items: { id: string; name: string }[]; nextCursor: string | null };
    const seen: string[] = [];
    let query = '?limit=1';
    for (let pages = 0; pages < 5; pages++) {
      const { items, nextCursor } = await door.expect<Page>('listVms', {}, 200, { ...viewer, query });
      seen.push(...items.map(({ name }) => name));
      if (nextCursor === null) break;
      query = `?limit=1&cursor=${encodeURIComponent(nextCursor)}`;
    }
    expect(seen).toEqual(['fits', 'web-1', 'web-2']);
    const found = await door.expect<Page>('listVms', {}, 200, { ...viewer, query: '?q=WEB-1' });
    expect(found.items.map((vm) => vm.id)).toEqual([id]);
    await door.expect('listVms', {}, [400, 'cursor_invalid'], { query: '?cursor=!' });
    await door.expect('getVm', { id }, 200, viewer);
  });

  test('renames and retags a VM', async () => {
    const answer = await door.expect('updateVm', { id }, 200, sent({ tags: { site: 'b' } }));
    expect(answer).toMatchObject({ name: 'web-1', tags: { site: 'b' } });
    await door.expect('updateVm', { id }, [409, 'vm_name_taken'], sent({ name: 'web-2' }));
    await door.expect('updateVm', { id: unknownId }, [404, 'vm_unknown'], sent({ name: 'x' }));
    expect(paths(await door.expect('updateVm', { id }, 422, sent({ id: unknownId })))).toEqual(['/id']);
  });

  test('issues a new enrollment token', async () => {
    await door.expect('issueEnrollmentToken', { id }, 201, operator);
  });

  test('an admin releases withheld settings; if none are withheld, nothing changes', async () => {
    type Released = { thumbprint: string | null; extensions: string[]; incarnation: number };
    const released = await door.expect<Released>('releaseSecrets', { id }, 200);
    expect(released).toMatchObject({ thumbprint: null, extensions: [] });
    await door.expect('releaseSecrets', { id }, [412, 'key_changed'], { query: `?thumbprint=${'A'.repeat(40)}` });
    await door.expect('releaseSecrets', { id: unknownId }, [404, 'vm_unknown']);
    await door.expect('releaseSecrets', { id }, [403, 'forbidden'], operator);
  });

  test('sets a VM to a stock agent, and back', async () => {
    const { id: stock } = await door.expect<{ id: string }>('createVm', {}, 201, sent({ name: 'stock' }));
    const granted = await door.expect<{ token: string }>('grantWireAccess', { id: stock }, 201, operator);
    expect(granted.token).toMatch(/^annex_wire_[\w-]{43}$/);
    await door.expect('issueEnrollmentToken', { id: stock }, [409, 'vm_has_stock_agent'], operator);
    await door.expect('rotateTenantKey', { id: stock }, 200, operator);
    const state = await door.expect('getWireAccess', { id: stock }, 200, viewer);
    expect(state).toMatchObject({ isOpen: true, agent: 'stock', stock: { version: null, seen: null, settled: null } });
    expect(JSON.stringify(state)).not.toContain(granted.token);
    await door.expect('revokeWireAccess', { id: stock }, 204, operator);
    await door.expect('revokeWireAccess', { id: stock }, [404, 'wire_access_absent'], operator);
    await door.expect('rotateTenantKey', { id: stock }, [404, 'wire_access_absent'], operator);
    const key = { credentialHash: 'x', keyHash: 'x', certificate: '', thumbprint: '' };
    const machine = { ...key, name: 'a', version: '1', os: {}, enrolledAt: new Date() };
    await door.services.db.insert(agents).values({ vmId: stock, ...machine });
    await door.expect('grantWireAccess', { id: stock }, [409, 'vm_has_reference_agent'], operator);
    await door.expect('grantWireAccess', { id: unknownId }, [404, 'vm_unknown'], operator);
    await door.expect('getWireAccess', { id: unknownId }, [404, 'vm_unknown'], operator);
    await door.expect('issueEnrollmentToken', { id: unknownId }, [404, 'vm_unknown'], operator);
  });
});

describe('extensions', () => {
  const probe = () => ({ id, name: 'probe' });
  const settings = { publicSettings: { port: 80 }, protectedSettings: { key: 'secret-value-1' } };
  let receipt: Receipt;

  test('declares an extension; an identical request changes nothing', async () => {
    receipt = await door.expect<Receipt>('setExtension', probe(), 200, sent(goal({ settings })));
    expect(receipt).toMatchObject({ vmId: id, name: 'probe', state: 'enabled', sequenceNumber: 1 });
    expect(await door.expect('setExtension', probe(), 200, sent(goal({ settings })))).toEqual(receipt);
  });

  test.each<[string, (halves: object) => object]>([
    ['handlerSettings', (halves) => ({ handlerSettings: halves })],
    ['runtimeSettings', (halves) => ({ runtimeSettings: [{ handlerSettings: halves }] })],
  ])('AZ-C1 settings in %s mean the same, in a declaration and in its plan', async (_, wrap) => {
    const body = sent(goal({ settings: wrap(settings) }));
    const plan = await door.expect('planExtension', probe(), 200, body);
    expect(plan).toMatchObject({ faults: [], extensions: [{ name: 'probe', changes: [] }] });
    expect(await door.expect('setExtension', probe(), 200, body)).toEqual(receipt);
    const wrong = sent(goal({ settings: wrap({ publicSettings: { port: 'x' } }) }));
    expect(paths(await door.expect('setExtension', probe(), 422, wrong))).toContain('/settings/publicSettings/port');
  });

  test.each([
    ['en', /plain text/],
    ['de', /Klartext/],
  ])('AZ-C1 faults of a wrapper are named by path, in %s', async (language, sentence) => {
    const sealed = { protectedSettings: 'MARKER', protectedSettingsCertThumbprint: 'AB' };
    const wrong = { handlerSettings: sealed, runtimeSettings: [], more: 1 };
    const body = sent(goal({ settings: wrong }), { 'accept-language': language });
    const problem = await door.expect('setExtension', probe(), [422, 'invalid'], body);
    expect(paths(problem).toSorted()).toEqual([
      '/settings/handlerSettings/protectedSettingsCertThumbprint',
      '/settings/more',
      '/settings/runtimeSettings',
    ]);
    expect(JSON.stringify(problem)).toMatch(sentence);
    expect(JSON.stringify(problem)).not.toContain('MARKER');
  });

  test('AZ-C1 each schema violation is listed by path; in protected settings, without the value', async () => {
    const wrong = { publicSettings: { port: 'MARKER' }, protectedSettings: { key: 'bad' } };
    const problem = await door.expect('setExtension', probe(), 422, sent(goal({ settings: wrong })));
    expect(paths(problem).toSorted()).toEqual(['/settings/protectedSettings/key', '/settings/publicSettings/port']);
    expect(JSON.stringify(problem)).not.toMatch(/MARKER|bad"/);
  });

  test('one response lists all faults of a declaration', async () => {
    const body = { version: 1, state: 'on', timeouts: { install: 0, nap: 1 }, dependsOn: ['a b'], more: 1 };
    const problem = await door.expect('setExtension', probe(), [422, 'invalid'], sent(body));
    expect(paths(problem).toSorted()).toEqual([
      '/dependsOn/0',
      '/handler',
      '/more',
      '/state',
      '/timeouts/install',
      '/timeouts/nap',
      '/version',
    ]);
    expect(paths(await door.expect('setExtension', { id, name: 'a b' }, 422, sent(goal())))).toEqual(['/name']);
  });

  test('a declaration must follow the rules of its VM', async () => {
    const other = { id, name: 'other' };
    await door.expect('setExtension', probe(), [409, 'handler_fixed'], sent(goal({ handler: 'Acme.Lab.Other' })));
    await door.expect('setExtension', other, [422, 'single_extension'], sent(goal({ settings })));
    const lab = (changes: object) => sent(goal({ handler: 'Acme.Lab.Other', ...changes }));
    await door.expect('setExtension', other, [422, 'dependency_unknown'], lab({ dependsOn: ['nothing'] }));
    await door.expect('setExtension', other, 200, lab({ dependsOn: ['probe'] }));
    await door.expect('setExtension', probe(), 422, sent(goal({ settings, dependsOn: ['other'] })));
    for (const [version, code] of [
      ['3.0.0.0', 'version_draft'],
      ['4.0', 'version_withdrawn'],
    ]) {
      type Answer = { errors: { path: string; code: string }[] };
      const { errors } = await door.expect<Answer>('setExtension', probe(), 422, sent(goal({ version })));
      expect(errors).toContainEqual(expect.objectContaining({ path: '/version', code }));
    }
    await door.expect('setExtension', probe(), [422, 'version_unknown'], sent(goal({ version: '9.9' })));
    await door.expect('removeExtension', probe(), [409, 'extension_needed'], operator);
    await door.expect('removeExtension', other, 202, operator);
  });

  test('numbers beyond ±2^53 and duplicate properties are rejected by path', async () => {
    const raw = JSON.stringify(goal({ settings: { publicSettings: { port: 7777777 } } }));
    const call = (body: string) => ({ ...operator, body, headers: { 'content-type': 'application/json' } });
    const far = await door.expect('setExtension', probe(), 422, call(raw.replace('7777777', '9007199254740993')));
    expect(paths(far)).toEqual(['/settings/publicSettings/port']);
    const twice = await door.expect('setExtension', probe(), 422, call(raw.replace('7777777', '1,"port":2')));
    expect(paths(twice)).toEqual(['/settings/publicSettings/port']);
  });

  test('settings above the limit are rejected with the limit', async () => {
    const large = { publicSettings: { port: 80, text: 'x'.repeat(300 * 1024) } };
    const { body, status } = await door.call('PUT', `/vms/${id}/extensions/probe`, sent(goal({ settings: large })));
    expect([413, 422]).toContain(status);
    expect(JSON.stringify(body)).toContain('256 KiB');
  });

  test('If-Match rejects a declaration based on an outdated goal state', async () => {
    const seen = await door.call('GET', `/vms/${id}/extensions/probe`, operator);
    const etag = seen.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"\d+"$/);
    const disabled = goal({ settings, state: 'disabled' });
    const changed = await door.expect<Receipt>('setExtension', probe(), 200, sent(disabled, { 'if-match': etag }));
    expect(changed.sequenceNumber).toBe(2);
    const late = sent(goal({ settings }), { 'if-match': etag, 'accept-language': 'de' });
    const problem = await door.expect('setExtension', probe(), [412, 'goal_state_moved_on'], late);
    expect(problem.detail).toContain(String(changed.incarnation));
    await door.expect('setExtension', probe(), [400, 'if_match_form'], sent(disabled, { 'if-match': '"x"' }));
    await door.expect('setExtension', probe(), 200, sent(disabled, { 'if-match': '*' }));
    await door.expect('removeExtension', probe(), [412, 'goal_state_moved_on'], {
      ...operator,
      headers: { 'if-match': etag },
    });
  });

  test('AZ-C2 no call returns protected settings', async () => {
    const view = await door.expect('getExtension', probe(), 200, operator);
    expect(view.protectedSettings).toMatchObject({ needsSecrets: false, needsRelease: false });
    for (const path of ['extensions/probe', 'goal-state', 'goal-states']) {
      const { text, status } = await door.call('GET', `/vms/${id}/${path}`);
      expect(status).toBe(200);
      expect(text).not.toContain('secret-value-1');
    }
  });

  test('secrets can be kept only if the protected schema stays the same', async () => {
    const other = goal({ version: '2.0.0.0', settings: { publicSettings: {} } });
    await door.expect('setExtension', probe(), [422, 'secrets_required'], sent(other));
    const removed = goal({ version: '2.0.0.0', settings: { publicSettings: {}, protectedSettings: null } });
    await door.expect('setExtension', probe(), 200, sent(removed));
  });

  test('unknown VMs and extensions are 404', async () => {
    await door.expect('setExtension', { id: unknownId, name: 'probe' }, [404, 'vm_unknown'], sent(goal({ settings })));
    await door.expect('getExtension', { id, name: 'nothing' }, [404, 'extension_absent'], operator);
    await door.expect('removeExtension', { id, name: 'nothing' }, [404, 'extension_absent'], operator);
  });
});

describe('goal states', () => {
  type Page = { items: { incarnation: number; extensions: { name: string }[] }[]; nextCursor: string | null };

  test('reads the current goal state and the history', async () => {
    const now = await door.expect<{ incarnation: number }>('getGoalState', { id }, 200, operator);
    const all = await door.expect<Page>('listGoalStates', { id }, 200, operator);
    expect(all.items[0]?.incarnation).toBe(now.incarnation);
    const first = await door.expect<Page>('listGoalStates', { id }, 200, { ...operator, query: '?limit=1' });
    const query = `?limit=1&cursor=${encodeURIComponent(first.nextCursor ?? '')}`;
    const second = await door.expect<Page>('listGoalStates', { id }, 200, { ...operator, query });
    expect(second.items[0]).toEqual(all.items[1]);
  });

  test('a revert creates an incarnation with the old contents', async () => {
    const { items } = await door.expect<Page>('listGoalStates', { id }, 200, operator);
    const now = items[0]?.incarnation ?? 0;
    const old = items.find(({ extensions }) => extensions.length === 1)?.incarnation ?? 0;
    await door.expect('revertGoalState', { id, incarnation: old }, [412, 'goal_state_moved_on'], {
      ...operator,
      headers: { 'if-match': `"${now - 1}"` },
    });
    const call = { ...operator, headers: { 'if-match': `"${now}"` } };
    const answer = await door.expect<Receipt>('revertGoalState', { id, incarnation: 1 }, 200, call);
    expect(answer).toEqual({ vmId: id, incarnation: now + 1, revertedTo: 1 });
    await door.expect('revertGoalState', { id, incarnation: 999 }, [404, 'goal_state_unknown'], operator);
    await door.expect('revertGoalState', { id, incarnation: 0 }, [404, 'not_found'], operator);
  });

  test('a revert to a withdrawn version is rejected', async () => {
    await givenVersion(door.services.db, { handler: 'Acme.Lab.Gone' });
    const gone = { id, name: 'gone' };
    const with_ = await door.expect<Receipt>('setExtension', gone, 200, sent(goal({ handler: 'Acme.Lab.Gone' })));
    await door.expect('removeExtension', gone, 202, operator);
    await door.expect('withdrawVersion', { handler: 'Acme.Lab.Gone', version: '1.0.0.0' }, 200, {
      body: { reason: 'x' },
    });
    await door.expect('revertGoalState', { id, incarnation: with_.incarnation }, 422, operator);
  });

  test('during an uninstall, a revert and a declaration are conflicts', async () => {
    const leaving = { id, name: 'leaving' };
    const body = goal({ handler: 'Acme.Lab.Other' });
    const { incarnation } = await door.expect<Receipt>('setExtension', leaving, 200, sent(body));
    // Marks the extension as delivered, because an extension that was never delivered is removed immediately.
    await door.services.db.$client.query(`update extensions set ever_delivered = true where name = 'leaving'`);
    expect(await door.expect('removeExtension', leaving, 202, operator)).toMatchObject({ state: 'uninstall' });
    await door.expect('setExtension', leaving, [409, 'uninstalling'], sent(body));
    await door.expect('revertGoalState', { id, incarnation }, [409, 'uninstalling'], operator);
    expect(await door.expect('removeExtension', leaving, 202, { ...operator, query: '?force=true' })).toMatchObject({
      state: 'removed',
    });
    await door.expect('removeExtension', leaving, [400, 'invalid'], { ...operator, query: '?force=perhaps' });
  });
});

describe('deleting a VM', () => {
  test('removes the VM and keeps its history', async () => {
    await door.expect('deleteVm', { id }, 204, operator);
    for (const call of ['getVm', 'deleteVm', 'issueEnrollmentToken', 'getGoalState']) {
      await door.expect(call, { id }, [404, 'vm_unknown'], operator);
    }
    await door.expect('listGoalStates', { id }, 200, operator);
    await door.expect('listGoalStates', { id: unknownId }, [404, 'vm_unknown'], operator);
    await door.expect('createVm', {}, 201, sent({ name: 'web-1' }));
  });

  test('with decommission, waits for the uninstall of its extensions', async () => {
    const made = await door.expect<{ id: string }>('createVm', {}, 201, sent({ name: 'slow' }));
    const extension = { id: made.id, name: 'slow' };
    await door.expect('setExtension', extension, 200, sent(goal({ handler: 'Acme.Lab.Other' })));
    await door.services.db.$client.query(`update extensions set ever_delivered = true where name = 'slow'`);
    await door.expect('deleteVm', { id: made.id }, 204, { ...operator, query: '?decommission=true' });
    expect(await door.expect('getVm', { id: made.id }, 200, viewer)).toMatchObject({ decommissioning: true });
    await door.expect(
      'setExtension',
      extension,
      [409, 'vm_decommissioning'],
      sent(goal({ handler: 'Acme.Lab.Other' })),
    );
  });
});

test('a malformed id gets the same response as an unknown id', async () => {
  for (const call of ['getVm', 'deleteVm', 'getGoalState']) {
    const unknown = await door.expect(call, { id: unknownId }, 404, operator);
    const strange = await door.expect(call, { id: 'not-an-id' }, 404, operator);
    expect({ ...strange, requestId: '' }).toEqual({ ...unknown, requestId: '' });
  }
});

test('every documented status of these calls was received', () => {
  const calls = [
    ...['createVm', 'listVms', 'getVm', 'updateVm', 'deleteVm', 'issueEnrollmentToken'],
    ...['grantWireAccess', 'getWireAccess', 'revokeWireAccess', 'rotateTenantKey'],
    ...['setExtension', 'getExtension', 'removeExtension', 'getGoalState', 'listGoalStates', 'revertGoalState'],
    'releaseSecrets',
  ];
  expect(door.unmet(calls)).toEqual([]);
});
