import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { and, eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { extensions, secrets } from '#db/schema/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { unseal } from '#server/platform/keys.ts';
import { testActor, testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { actsSince, markOf, outcomeOf } from '#server/testing/records.ts';
import { bindCertificate } from './begin.ts';
import { changeProtectedSettings, planProtectedSettings } from './change-protected-settings.ts';
import { boundTo } from './custody.ts';
import { getExtension } from './get-extension.ts';
import { getGoalState } from './get-goal-state.ts';
import type { ChangeProtectedSettingsInput } from './input.ts';
import { planExtension } from './plan-extension.ts';
import { planRevert, revertGoalState } from './revert-goal-state.ts';
import { setExtension } from './set-extension.ts';

const strict = 'Acme.Lab.Strict';
let services: Services;
let ada: Context;
let eve: Context;

beforeAll(async () => {
  services = await testServices();
  const password = { type: 'string', minLength: 4 };
  const defined = { type: 'object', properties: { password, keytab: { type: 'string' } }, required: ['password'] };
  await givenVersion(services.db);
  await givenVersion(services.db, {
    handler: strict,
    settingsSchema: { protectedSettings: { ...defined, additionalProperties: { type: 'string' } } },
  });
  await givenVersion(services.db, {
    handler: strict,
    version: '2.0.0.0',
    settingsSchema: { protectedSettings: { ...defined, properties: { ...defined.properties, token: {} } } },
  });
  const as = (id: string, name: string, now: string) =>
    testContext({ services, actor: { ...testActor('operator'), id, name }, now: new Date(now) });
  ada = await as('ada', 'Ada', '2026-03-01T08:00:00Z');
  eve = await as('eve', 'Eve', '2026-03-02T08:00:00Z');
});

const goal = (protectedSettings?: unknown) => ({
  handler: strict,
  version: '1.0.0.0',
  state: 'enabled' as const,
  settings: { publicSettings: { a: 1 }, ...(protectedSettings !== undefined && { protectedSettings }) },
});

/** Creates a VM whose extension has protected settings that Ada entered. */
async function givenSecrets(protectedSettings: unknown = { password: 'first', keytab: 'file' }): Promise<GivenVm> {
  const vm = await givenVm(services);
  await setExtension(ada, { vmId: vm.vmId, name: 'probe', goal: goal(protectedSettings) });
  return vm;
}

type Changes = ChangeProtectedSettingsInput['changes'];
const change = (ctx: Context, { vmId }: GivenVm, changes: Changes, more: { ifMatch?: number; plan?: string } = {}) =>
  changeProtectedSettings(ctx, { vmId, name: 'probe', changes, ...more });
const planned = (ctx: Context, { vmId }: GivenVm, changes: Changes) =>
  planProtectedSettings(ctx, { vmId, name: 'probe', changes });
const view = async ({ vmId }: GivenVm) => (await getExtension(eve, { vmId, name: 'probe' })).protectedSettings;

async function storedRow({ vmId }: GivenVm) {
  const [found] = await services.db
    .select({ secret: secrets })
    .from(extensions)
    .innerJoin(secrets, and(eq(secrets.vmId, extensions.vmId), eq(secrets.id, extensions.secretId)))
    .where(eq(extensions.vmId, vmId));
  return found?.secret;
}
/** Decrypts the stored settings as the portal does; null if there are none. */
async function storedValue(vm: GivenVm): Promise<unknown> {
  const row = await storedRow(vm);
  if (!row?.sealed) return null;
  return JSON.parse(unseal(services.keys.sealing, row.sealed, boundTo(vm.vmId, row.id)).toString());
}
const adaAt = { changedAt: '2026-03-01T08:00:00.000Z', changedBy: 'Ada' };
const eveAt = { changedAt: '2026-03-02T08:00:00.000Z', changedBy: 'Eve' };

describe('individual protected settings', () => {
  test('are set and removed; the other settings, the public settings and the version do not change', async () => {
    const vm = await givenSecrets();
    const receipt = await change(eve, vm, { set: { token: 'new' }, remove: ['keytab'] });
    expect(receipt).toMatchObject({ vmId: vm.vmId, name: 'probe', sequenceNumber: 2, incarnation: 3 });
    expect(await storedValue(vm)).toEqual({ password: 'first', token: 'new' });
    const { extensions: sent } = await getGoalState(ada, { vmId: vm.vmId });
    expect(sent).toEqual([]);
    expect(await getExtension(ada, { vmId: vm.vmId, name: 'probe' })).toMatchObject({
      version: '1.0.0.0',
      publicSettings: { a: 1 },
    });
  });

  test('list when and by whom each setting was entered, first the settings that the schema names', async () => {
    const vm = await givenSecrets({ zone: 'b', alias: 'c', keytab: 'file', password: 'first' });
    await change(eve, vm, { set: { keytab: 'other' } });
    expect(await view(vm)).toMatchObject({
      ...eveAt,
      obstacle: null,
      unnamed: 0,
      settings: [
        { name: 'password', ...adaAt },
        { name: 'keytab', ...eveAt },
        { name: 'alias', ...adaAt },
        { name: 'zone', ...adaAt },
      ],
    });
  });

  test('keep their names out of the database and their values out of every response', async () => {
    const vm = await givenSecrets({ password: 'first', 'customer-4711': 'value-4711' });
    const row = await storedRow(vm);
    expect(JSON.stringify({ ...row, sealed: null, cms: null })).not.toContain('customer-4711');
    const answers = [await view(vm), await planned(eve, vm, { set: { 'customer-4711': 'value-4712' } })];
    expect(JSON.stringify(answers)).not.toMatch(/value-471/);
  });

  test('that are set to the same values change nothing, nor does an empty request', async () => {
    const vm = await givenSecrets();
    expect(await change(eve, vm, { set: { password: 'first' } })).toMatchObject({ sequenceNumber: 1, incarnation: 2 });
    expect(await change(eve, vm, {})).toMatchObject({ sequenceNumber: 1, incarnation: 2 });
    expect(await change(eve, vm, { remove: ['absent'] })).toMatchObject({ sequenceNumber: 1, incarnation: 2 });
    expect((await view(vm))?.settings).toMatchObject([adaAt, adaAt]);
  });

  test('can be added to an extension without any, and the last setting can be removed', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe');
    expect(await change(ada, vm, { set: { secret: 'x' } })).toMatchObject({ sequenceNumber: 2 });
    expect(await view(vm)).toMatchObject({ settings: [{ name: 'secret', ...adaAt }] });
    expect(await change(ada, vm, { remove: ['secret'] })).toMatchObject({ sequenceNumber: 3 });
    expect(await view(vm)).toBeNull();
  });

  test('AZ-C1 are checked together with the unchanged settings: path and keyword, but no value', async () => {
    const vm = await givenSecrets();
    const wrong = { set: { password: 'abc', extra: 7 }, remove: ['keytab'] };
    const expected = [
      { path: '/settings/protectedSettings/password', code: 'protected_setting', params: { keyword: 'minLength' } },
      { path: '/settings/protectedSettings/extra', code: 'protected_setting', params: { keyword: 'type' } },
    ];
    await expect(change(eve, vm, wrong)).rejects.toMatchObject({
      kind: 'unprocessable',
      faults: expect.arrayContaining(expected.map((fault) => expect.objectContaining(fault))),
    });
    expect((await planned(eve, vm, wrong)).faults).toMatchObject(expect.arrayContaining(expected));
    expect(await outcomeOf(change(eve, vm, { remove: ['password'] }))).toContain('protected_setting');
    expect(await storedValue(vm)).toEqual({ password: 'first', keytab: 'file' });
  });

  test('are stored for both people if two people change different settings at the same moment', async () => {
    const vm = await givenSecrets();
    await Promise.all([
      change(ada, vm, { set: { password: 'second' } }),
      change(eve, vm, { set: { keytab: 'other' } }),
      vm.declare('probe', { ...goal(), settings: { publicSettings: { a: 2 } } }),
    ]);
    expect(await storedValue(vm)).toEqual({ password: 'second', keytab: 'other' });
    expect(await getExtension(ada, { vmId: vm.vmId, name: 'probe' })).toMatchObject({ publicSettings: { a: 2 } });
  });

  test('are all stored if many calls change different settings at the same moment', async () => {
    const vm = await givenSecrets();
    const names = Array.from({ length: 30 }, (_, n) => `key-${n}`);
    const outcomes = await Promise.all(names.map((name) => outcomeOf(change(eve, vm, { set: { [name]: 'x' } }))));
    expect(outcomes).toEqual(names.map(() => 'done'));
    const given = Object.fromEntries(names.map((name) => [name, 'x']));
    expect(await storedValue(vm)).toEqual({ password: 'first', keytab: 'file', ...given });
  });

  test('are not changed if the caller saw another goal state', async () => {
    const vm = await givenSecrets();
    await vm.declare('probe', { ...goal(), settings: { publicSettings: { a: 2 } } });
    const late = change(eve, vm, { set: { password: 'second' } }, { ifMatch: 2 });
    expect(await outcomeOf(late)).toBe('precondition_failed goal_state_moved_on');
    expect(await storedValue(vm)).toMatchObject({ password: 'first' });
  });

  test('are rejected if a setting is both set and removed, and while the extension is being uninstalled', async () => {
    const vm = await givenSecrets();
    const both = change(eve, vm, { set: { password: 'second' }, remove: ['keytab', 'password'] });
    expect(await outcomeOf(both)).toBe('unprocessable invalid; /changes/remove/1 setting_set_and_removed');
    await services.db.update(extensions).set({ state: 'uninstall' }).where(eq(extensions.vmId, vm.vmId));
    expect(await outcomeOf(change(eve, vm, { set: { password: 'second' } }))).toBe('conflict uninstalling');
  });

  test('cannot be combined with new settings as a whole', async () => {
    const vm = await givenSecrets();
    const both = { vmId: vm.vmId, name: 'probe', goal: goal({ password: 'whole' }), changes: { set: { keytab: 'x' } } };
    expect(await outcomeOf(setExtension(eve, both))).toBe('unprocessable invalid; /changes protected_settings_twice');
    expect(await outcomeOf(planExtension(eve, both))).toContain('protected_settings_twice');
  });

  test('are changed together with the rest of the declaration in one goal state', async () => {
    const vm = await givenSecrets();
    const changes = { set: { token: 'new' } };
    const input = { vmId: vm.vmId, name: 'probe', goal: { ...goal(), version: '2.0.0.0' }, changes };
    // Without changes, settings that were checked against another schema must be entered again.
    expect(await outcomeOf(setExtension(eve, { ...input, changes: undefined }))).toContain('secrets_required');
    expect(await setExtension(eve, { ...input, changes: {} })).toMatchObject({ version: '2.0.0.0', incarnation: 3 });
    // The settings were checked against the new schema and can be kept from now on.
    expect(await setExtension(eve, { ...input, changes: undefined })).toMatchObject({ incarnation: 3 });
    expect(await setExtension(eve, input)).toMatchObject({ sequenceNumber: 3, incarnation: 4 });
    expect(await storedValue(vm)).toEqual({ password: 'first', keytab: 'file', token: 'new' });
  });
});

describe('a plan of individual protected settings', () => {
  test('names the changes, and its hash applies exactly these changes, once', async () => {
    const vm = await givenSecrets({ password: 'first', keytab: 'file', zone: 'b' });
    const changes = { set: { password: 'second', token: 'new' }, remove: ['zone'] };
    const plan = await planned(eve, vm, changes);
    expect(plan.extensions).toMatchObject([{ effect: 'sequence', protectedSettings: 'replaced', changes: [] }]);
    expect(plan.extensions[0]?.protectedChanges).toEqual([
      { name: 'keytab', change: 'kept', ...adaAt },
      { name: 'password', change: 'replaced', ...adaAt },
      { name: 'token', change: 'added', changedAt: null, changedBy: null },
      { name: 'zone', change: 'removed', ...adaAt },
    ]);
    const other = change(eve, vm, { set: { password: 'third' } }, { plan: plan.planHash ?? '' });
    expect(await outcomeOf(other)).toBe('precondition_failed plan_moved_on');
    await change(eve, vm, changes, { plan: plan.planHash ?? '' });
    expect(await outcomeOf(change(eve, vm, changes, { plan: plan.planHash ?? '' }))).toBe(
      'precondition_failed plan_moved_on',
    );
  });

  test('AZ-C2 does not confirm a guessed value', async () => {
    const vm = await givenSecrets();
    const [right, wrong] = [{ set: { password: 'first' } }, { set: { password: 'wrong' } }];
    const shape = async (changes: Changes) => ({ ...(await planned(eve, vm, changes)), planHash: null });
    expect(await shape(right)).toEqual(await shape(wrong));
    const [one, two] = [await planned(eve, vm, right), await planned(eve, vm, right)];
    expect(one.planHash).not.toBe(two.planHash);
  });

  test('also names them if all settings are replaced', async () => {
    const vm = await givenSecrets();
    const plan = await planExtension(eve, { vmId: vm.vmId, name: 'probe', goal: goal({ password: 'again' }) });
    expect(plan.extensions[0]?.protectedChanges).toEqual([
      { name: 'password', change: 'replaced', ...adaAt },
      { name: 'keytab', change: 'removed', ...adaAt },
    ]);
  });

  test('of a revert says which values return, and by whom they were entered', async () => {
    const vm = await givenSecrets({ password: 'first', keytab: 'file' });
    await change(eve, vm, { set: { password: 'second', token: 'new' } });
    const plan = await planRevert(eve, { vmId: vm.vmId, incarnation: 2 });
    expect(plan.extensions[0]?.protectedChanges).toEqual([
      { name: 'password', change: 'returned', ...adaAt },
      { name: 'keytab', change: 'kept', ...adaAt },
      { name: 'token', change: 'removed', ...eveAt },
    ]);
    expect(plan.extensions[0]?.protectedRestored).toEqual(adaAt);
    await revertGoalState(eve, { vmId: vm.vmId, incarnation: 2 });
    expect(await storedValue(vm)).toEqual({ password: 'first', keytab: 'file' });
  });
});

describe('the activity log', () => {
  test('names changed settings that the schema defines, and only counts other settings', async () => {
    const vm = await givenSecrets({ password: 'first', keytab: 'file', 'customer-4711': 'x' });
    const mark = await markOf(services.db);
    await change(eve, vm, { set: { password: 'second', 'customer-4712': 'y' }, remove: ['keytab', 'customer-4711'] });
    const acts = await actsSince(services.db, mark, vm.vmId);
    expect(acts).toMatchObject([
      {
        action: 'extension.set',
        details: { protectedSettings: { set: ['password'], removed: ['keytab'], others: 2 } },
      },
    ]);
    expect(JSON.stringify(acts)).not.toMatch(/customer|second/);
  });
});

describe('AZ-C2 who may change individual settings', () => {
  const newThumbprint = () => randomBytes(20).toString('hex').toUpperCase();
  async function bind(vm: GivenVm, issuer: string) {
    const pair = newKeyPair();
    const certificate = { pem: pair.certificate, thumbprint: newThumbprint() };
    const origin = { kind: 'issued' as const, issuer: { key: `user:${issuer}`, isAdmin: false }, sameKey: false };
    await services.db.transaction((tx) => bindCertificate(tx, eve, vm.vmId, certificate, origin, issuer));
    return pair;
  }

  test('the result is encrypted for the machine, which decrypts the settings of both people', async () => {
    const vm = await givenSecrets();
    const { key } = await bind(vm, 'ada');
    await change(eve, vm, { set: { keytab: 'other' } });
    const [sent] = (await getGoalState(ada, { vmId: vm.vmId })).extensions;
    const input = Buffer.from(sent?.settings.protectedSettings ?? '', 'base64');
    const opened = execFileSync('openssl', ['cms', '-decrypt', '-inform', 'DER', '-inkey', key], { input });
    expect(JSON.parse(opened.toString())).toEqual({ password: 'first', keytab: 'other' });
  });

  test('settings of several people are released only by an admin, settings of one person by that person', async () => {
    const vm = await givenSecrets();
    expect((await storedRow(vm))?.setBy).toBe('user:ada');
    await change(eve, vm, { set: { keytab: 'other' } });
    expect((await storedRow(vm))?.setBy).toBeNull();
    await change(eve, vm, { set: { password: 'mine' } });
    expect((await storedRow(vm))?.setBy).toBe('user:eve');
    await change(ada, vm, { remove: ['keytab'] });
    expect((await storedRow(vm))?.setBy).toBe('user:eve');
  });

  test('withheld settings cannot be merged, so that no part of them reaches the machine', async () => {
    const vm = await givenSecrets();
    await bind(vm, 'eve');
    expect((await view(vm))?.obstacle).toBe('secrets_withheld');
    for (const ctx of [eve, await testContext({ services, role: 'admin' })]) {
      const changes = { set: { keytab: 'other' } };
      expect(await outcomeOf(change(ctx, vm, changes))).toBe('conflict secrets_withheld');
      expect(await outcomeOf(planned(ctx, vm, changes))).toBe('conflict secrets_withheld');
    }
    expect((await getGoalState(ada, { vmId: vm.vmId })).extensions).toEqual([]);
    expect(await storedValue(vm)).toEqual({ password: 'first', keytab: 'file' });
  });

  test('with ANNEX_CUSTODY=vm, no one can change them, but names in the schema are shown', async () => {
    const vm = await givenSecrets({ password: 'first', zone: 'b' });
    await bind(vm, 'ada');
    const withVm = { ...eve, config: { ...eve.config, custody: 'vm' as const } };
    expect(await outcomeOf(change(withVm, vm, { set: { keytab: 'x' } }))).toBe('conflict secrets_custody');
    expect(await outcomeOf(planned(withVm, vm, { set: { keytab: 'x' } }))).toBe('conflict secrets_custody');
    await services.db.update(secrets).set({ sealed: null }).where(eq(secrets.vmId, vm.vmId));
    expect(await view(vm)).toMatchObject({
      obstacle: 'secrets_custody',
      settings: [{ name: 'password', ...adaAt }],
      unnamed: 1,
    });
    // Custody is `portal` again, but the portal has no copy of these settings.
    expect(await outcomeOf(change(eve, vm, { set: { keytab: 'x' } }))).toBe('conflict secrets_custody');
  });

  test('settings that are not an object cannot be changed one by one', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe', { settings: { publicSettings: {}, protectedSettings: ['a', 'list'] } });
    expect(await view(vm)).toMatchObject({ obstacle: 'secrets_not_object', settings: [], unnamed: 0 });
    expect(await outcomeOf(change(eve, vm, { set: { keytab: 'x' } }))).toBe('conflict secrets_not_object');
  });
});

describe('settings that the previous release stored', () => {
  const asBefore = (vm: GivenVm) => services.db.update(secrets).set({ entries: null }).where(eq(secrets.vmId, vm.vmId));

  test('have names from the portal’s copy, and the author and time of the whole', async () => {
    const vm = await givenSecrets({ zone: 'b', password: 'first' });
    await asBefore(vm);
    expect((await view(vm))?.settings).toEqual([
      { name: 'password', ...adaAt },
      { name: 'zone', ...adaAt },
    ]);
    await change(eve, vm, { set: { zone: 'c' } });
    expect((await view(vm))?.settings).toEqual([
      { name: 'password', ...adaAt },
      { name: 'zone', ...eveAt },
    ]);
    expect((await storedRow(vm))?.setBy).toBeNull();
  });
});

test('very many settings are listed in part and can all be changed', async () => {
  const many = Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`s${n}`, 'x']));
  const vm = await givenSecrets({ password: 'first', ...many });
  const listed = await view(vm);
  expect([listed?.settings.length, listed?.unnamed]).toEqual([200, 51]);
  await change(eve, vm, { set: { s249: 'y' }, remove: ['s248'] });
  const { s248: _, ...rest } = many;
  expect(await storedValue(vm)).toEqual({ password: 'first', ...rest, s249: 'y' });
});
