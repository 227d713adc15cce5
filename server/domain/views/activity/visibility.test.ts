import { beforeAll, describe, expect, test } from 'vitest';
import type { Role } from '#db/schema/auth.ts';
import { auditEntries, users } from '#db/schema/index.ts';
import type { Actor } from '#server/domain/actor.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { testActor, testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import {
  countNewerActs,
  type ExportedAct,
  getAct,
  getActivityChain,
  getActivityFacets,
  listActivity,
  readActivity,
} from './index.ts';

type Act = Partial<typeof auditEntries.$inferInsert>;

let services: Services;
let vmId: string;
/** Id of the last entry that existed before this test. */
let start: number;

const tokenId = '00000000-0000-4000-8000-00000000000a';
const now = new Date('2026-03-01T12:00:00Z');
const as = (actor: Actor) => testContext({ services, actor, now });
const roles: readonly Role[] = ['viewer', 'publisher', 'operator', 'admin'];

async function act(more: Act): Promise<number> {
  const [row] = await services.db
    .insert(auditEntries)
    .values({
      ...{ at: now, actorKind: 'user', actorId: 'ada', actorName: 'Ada', door: 'page', address: '192.0.2.7' },
      ...{ client: 'Browser', action: 'vm.update', targetKind: 'vm', targetId: vmId, requestId: 'r', details: {} },
      ...{ before: { a: 1 }, after: { a: 2 } },
      ...more,
    })
    .returning({ id: auditEntries.id });
  return row?.id ?? 0;
}

beforeAll(async () => {
  services = await testServices();
  const admin = await testContext({ services, now: new Date(now.getTime() - 60_000) });
  ({ id: vmId } = await registerVm(admin, { name: 'db-1' }));
  start = (await listActivity(admin, {})).newest;
});

/** Which roles can see an entry, and which can see its contents. */
const readers: readonly [targetKind: string, acts: readonly Role[], contents: readonly Role[]][] = [
  ['vm', roles, ['operator', 'admin']],
  ['extension', roles, ['operator', 'admin']],
  ['goal-state', roles, ['operator', 'admin']],
  ['version', roles, roles],
  ['handler', roles, roles],
  ['publisher', roles, roles],
  ['problem', roles, roles],
  ['execution', roles, roles],
  ['runbook', roles, roles],
  ['model', roles, roles],
  ['member', ['admin'], ['admin']],
  ['invitation', ['admin'], ['admin']],
  ['token', ['admin'], ['admin']],
  ['activity', ['admin'], ['admin']],
  ['fleet', ['admin'], ['admin']],
  ['of a later release', ['admin'], ['admin']],
];

describe.each(readers)('an entry of another person on the target %s', (targetKind, seesAct, seesContents) => {
  let id: number;
  beforeAll(async () => {
    id = await act({ targetKind, targetId: tokenId });
  });

  test.each(roles)('as %s', async (role) => {
    const ctx = await as(testActor(role));
    const own = { target: `${targetKind}:${tokenId}` };
    const { items } = await listActivity(ctx, own);
    const exported: ExportedAct[] = [];
    for await (const acts of readActivity(ctx, own)) exported.push(...acts);
    const shown = seesAct.includes(role);
    expect(items.map((item) => item.id)).toEqual(shown ? [id] : []);
    expect((await countNewerActs(ctx, { ...own, after: id - 1 })).count).toBe(shown ? 1 : 0);
    if (!shown) {
      expect(exported).toEqual([]);
      return expect(getAct(ctx, { id })).rejects.toMatchObject({ kind: 'not_found', code: 'act_unknown' });
    }
    const open = seesContents.includes(role);
    expect(items[0]?.hasContents).toBe(open);
    expect((await getAct(ctx, { id })).differences).toHaveLength(open ? 1 : 0);
    expect([exported[0]?.before, exported[0]?.after]).toEqual(open ? [{ a: 1 }, { a: 2 }] : [null, null]);
    const seesAddress = role === 'admin';
    expect([items[0]?.address, items[0]?.client]).toEqual(seesAddress ? ['192.0.2.7', 'Browser'] : [null, null]);
    expect([exported[0]?.address, exported[0]?.client]).toEqual(seesAddress ? ['192.0.2.7', 'Browser'] : [null, null]);
  });
});

describe('the reader’s own act', () => {
  test.each(roles)('as %s: with its address, whatever its target', async (role) => {
    const actor = testActor(role);
    const ctx = await as(actor);
    const id = await act({ actorId: actor.id, targetKind: 'member', targetId: actor.id });
    const { items } = await listActivity(ctx, { target: `member:${actor.id}` });
    expect(items).toMatchObject([{ id, address: '192.0.2.7', hasContents: true }]);
    expect((await getAct(ctx, { id })).differences).toHaveLength(1);
  });

  test('is not that of a token with the same id', async () => {
    const id = await act({ actorKind: 'token', actorId: 'test-viewer', targetKind: 'member', targetId: 'm' });
    await expect(getAct(await as(testActor('viewer')), { id })).rejects.toMatchObject({ code: 'act_unknown' });
    await act({ actorKind: 'token', actorId: 'test-viewer', targetId: 'by a token' });
    const { items } = await listActivity(await as(testActor('viewer')), { target: 'vm:by a token' });
    expect(items).toMatchObject([{ address: null, client: null }]);
  });

  test('on a VM shows its address, but a viewer sees no declaration', async () => {
    const id = await act({ actorId: 'test-viewer', targetId: 'mine' });
    const ctx = await as(testActor('viewer'));
    expect((await listActivity(ctx, { target: 'vm:mine' })).items).toMatchObject([
      { address: '192.0.2.7', hasContents: false },
    ]);
    expect(await getAct(ctx, { id })).toMatchObject({ differences: [], more: 0 });
  });
});

test('values to filter by are those of entries that the caller can see', async () => {
  await act({ actorId: 'hidden', actorName: 'Hidden', action: 'member.remove', targetKind: 'member', targetId: 'm' });
  const of = async (role: Role) => {
    const { actors, actions } = await getActivityFacets(await as(testActor(role)), {});
    return [actors.some(({ id }) => id === 'hidden'), actions.some(({ action }) => action === 'member.remove')];
  };
  expect([await of('operator'), await of('admin')]).toEqual([
    [false, false],
    [true, true],
  ]);
});

test('an actor that was renamed is listed once, with the current name', async () => {
  await act({ actorId: 'renamed', actorName: 'Before', vmId });
  await act({ actorId: 'renamed', actorName: 'After', vmId });
  const { actors } = await getActivityFacets(await as(testActor('viewer')), { vmId });
  expect(actors).toContainEqual({ kind: 'user', id: 'renamed', name: 'After', count: 2 });
});

describe('targets', () => {
  const targetOf = async (more: Act) => {
    const id = await act(more);
    const { items } = await listActivity(await testContext({ services, now }), { upTo: id, limit: 1 });
    expect(items[0]?.id).toBe(id);
    return items[0];
  };

  test.each<[string, () => Act, string, boolean]>([
    ['a VM by its name', () => ({ vmId }), 'db-1', true],
    ['an unknown VM by its id', () => ({ targetId: 'gone' }), 'gone', false],
    ['a goal state of a VM', () => ({ vmId, targetKind: 'goal-state', targetId: '7' }), '7', true],
    ['a goal state without a VM', () => ({ targetKind: 'goal-state', targetId: '7' }), '7', false],
    ['an extension that was removed', () => ({ vmId, targetKind: 'extension', targetId: 'probe' }), 'probe', false],
    [
      'a version',
      () => ({ targetKind: 'version', targetId: 'Acme.Lab.Probe-1.0.0.0' }),
      'Acme.Lab.Probe 1.0.0.0',
      true,
    ],
    [
      'a deleted version',
      () => ({ targetKind: 'version', targetId: 'Acme.Lab.Probe-9.0.0.0' }),
      'Acme.Lab.Probe 9.0.0.0',
      false,
    ],
    ['a publisher', () => ({ targetKind: 'publisher', targetId: 'Acme.Lab' }), 'Acme.Lab', true],
    ['a deleted publisher', () => ({ targetKind: 'publisher', targetId: 'Gone' }), 'Gone', false],
    ['a member by the current name', () => ({ targetKind: 'member', targetId: 'grace' }), 'Grace Hopper', true],
    [
      'a removed member by the name at that time',
      () => ({ targetKind: 'member', targetId: 'x', details: { name: 'Eve' } }),
      'Eve',
      false,
    ],
    ['a removed member without a name by the actor', () => ({ targetKind: 'member', targetId: 'x' }), 'Ada', false],
    [
      'a revoked token by its name',
      () => ({ targetKind: 'token', targetId: tokenId, details: { name: 'CI' } }),
      'CI',
      false,
    ],
    ['anything else by its id', () => ({ targetKind: 'language', targetId: 'de' }), 'de', false],
  ])('%s', async (_, more, name, isThere) => {
    await givenVersion(services.db).catch(() => {});
    await services.db
      .insert(users)
      .values({ id: 'grace', name: 'Grace Hopper', email: 'grace@example.org', role: 'viewer' })
      .onConflictDoNothing();
    expect((await targetOf(more()))?.target).toMatchObject({ name, isThere });
  });

  test('a deleted VM keeps its name', async () => {
    const admin = await testContext({ services, now });
    const { id } = await registerVm(admin, { name: 'short-lived' });
    await removeVm(admin, { vmId: id });
    expect((await targetOf({ vmId: id, targetId: id }))?.vm).toEqual({ id, name: 'short-lived', isThere: false });
  });

  test('an actor exists only while the person is a member', async () => {
    expect((await targetOf({ actorId: 'grace' }))?.actor.isThere).toBe(true);
    expect((await targetOf({ actorId: 'nobody' }))?.actor.isThere).toBe(false);
    expect((await targetOf({ actorKind: 'token', actorId: 'grace' }))?.actor.isThere).toBe(false);
  });
});

test.each([
  [{ limit: 0 }, '/limit', 'field_too_small'],
  [{ limit: 1_001 }, '/limit', 'field_too_big'],
  [{ limit: 1.5 }, '/limit', 'field_not_integer'],
  [{ vmId: 'db-1' }, '/vmId', 'field_format'],
  [{ actor: '' }, '/actor', 'field_empty'],
  [{ actor: 'x'.repeat(301) }, '/actor', 'field_too_long'],
  [{ action: 'x'.repeat(101) }, '/action', 'field_too_long'],
  [{ q: 'x'.repeat(201) }, '/q', 'field_too_long'],
  [{ from: 'yesterday' }, '/from', 'field_format'],
  [{ upTo: -1 }, '/upTo', 'field_too_small'],
  [{ cursor: 'x'.repeat(501) }, '/cursor', 'field_too_long'],
])('a list with %j is rejected at %s', async (input, path, code) => {
  const ctx = await as(testActor('viewer'));
  const faults = [expect.objectContaining({ path, code })];
  await expect(listActivity(ctx, input)).rejects.toMatchObject({ code: 'invalid', faults });
});

test.each([
  ['listActivity', (ctx: Context) => listActivity(ctx, {})],
  ['countNewerActs', (ctx: Context) => countNewerActs(ctx, { after: 0 })],
  ['getAct', (ctx: Context) => getAct(ctx, { id: start })],
  ['getActivityFacets', (ctx: Context) => getActivityFacets(ctx, {})],
  ['getActivityChain', getActivityChain],
  ['readActivity', async (ctx: Context) => readActivity(ctx, {}).next()],
])('%s rejects callers without a session or a required second factor', async (_, verb) => {
  await expect(verb(await as(testActor(null)))).rejects.toMatchObject({ kind: 'unauthenticated' });
  const withoutFactor: Actor = { ...testActor('admin'), role: null };
  await expect(verb(await as(withoutFactor))).rejects.toMatchObject({ code: 'factor_required' });
  await expect(verb(await as(testActor('viewer')))).resolves.toBeDefined();
});
