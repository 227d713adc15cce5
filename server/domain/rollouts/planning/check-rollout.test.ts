import { eq, sql } from 'drizzle-orm';
import { pino } from 'pino';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { handlerVersions, rollouts } from '#db/schema/index.ts';
import type { Definition } from '#server/domain/rollout-rules/stored.ts';
import { seal } from '#server/platform/keys.ts';
import { testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { givenPlanning, membersOf, rowOf, setRollout, upgrade } from '../testing/given-draft.ts';
import { checkRollout } from './check-rollout.ts';
import { planRollout } from './plan-rollout.ts';
import type { PlanServices } from './snapshot.ts';

let services: PlanServices;
let vms: GivenVm[];
const at = (place: number): GivenVm => vms[place] as GivenVm;

beforeAll(async () => {
  services = { ...(await testServices()), log: pino({ level: 'silent' }) };
  for (const version of ['1.0.0.0', '1.1.0.0', '1.2.0.0']) await givenVersion(services.db, { version });
});

beforeEach(async () => {
  vms = [await givenVm(services), await givenVm(services), await givenVm(services), await givenVm(services)];
  for (const vm of vms) await vm.declare('probe');
});

afterEach(() => services.db.delete(rollouts));

/** Plans a rollout and starts it, as the verb does. */
async function started(definition: Partial<Definition> = {}, values: Parameters<typeof givenPlanning>[2] = {}) {
  const select = { ids: vms.map(({ vmId }) => vmId) };
  const id = await givenPlanning(services, { select, ...definition }, values);
  await planRollout(services, id);
  await setRollout(services, id, { state: 'checking', startedBy: 'Test' });
  return id;
}

async function checked(id: string, now = new Date()) {
  expect(await checkRollout(services, id, now)).toBe('done');
  return rowOf(services, id);
}

const reasonOf = ({ why }: { why: { code: string; params?: object }[] }) => [why[0]?.code, why[0]?.params];

describe('RO-5 a rollout whose plan still holds', () => {
  test('runs, and everything about its members stays as planned', async () => {
    const id = await started();
    const before = await rowOf(services, id);
    const members = await membersOf(services, id);
    await services.db.execute(sql`
      insert into health_transitions (at, vm_id, kind, "to") values (now(), ${at(0).vmId}, 'health', 'healthy')`);
    const { rows } = await services.db.execute<{ last: string }>(sql`select max(id) as last from health_transitions`);
    const now = new Date();
    expect(await checked(id, now)).toMatchObject({
      ...{ state: 'running', why: [], next: null, plan: before.plan, planHash: before.planHash, members: 4 },
      ...{ startedAt: now, progressAt: now, dueAt: now, epoch: 'test', healthSeen: Number(rows[0]?.last) },
    });
    expect(await membersOf(services, id)).toEqual(members);
  });

  test('is scheduled if it starts later, and is checked again at that time', async () => {
    const now = new Date();
    const startAt = new Date(now.getTime() + 3_600_000);
    const id = await started({}, { startAt });
    const next = { code: 'start_at', at: startAt.toISOString() };
    expect(await checked(id, now)).toMatchObject({ state: 'scheduled', dueAt: startAt, next, startedAt: null });
    await setRollout(services, id, { state: 'checking' });
    await at(0).declare('probe', { version: '1.2.0.0' });
    expect(await checked(id, startAt)).toMatchObject({ state: 'planned', why: [{ code: 'plan_moved_on' }] });
  });

  test('starts after planning without a further call if the request for the plan included the start', async () => {
    const id = await givenPlanning(services, { select: { ids: vms.map(({ vmId }) => vmId) } }, { startedBy: 'Annex' });
    await planRollout(services, id);
    expect(await rowOf(services, id)).toMatchObject({ state: 'checking', startedBy: 'Annex', members: 4 });
    expect(await checked(id)).toMatchObject({ state: 'running', startedBy: 'Annex' });
  });
});

describe('RO-5 a rollout whose members moved', () => {
  test('is planned again, states from which kind to which, and needs its approvals again', async () => {
    const id = await started();
    const { planHash } = await rowOf(services, id);
    await setRollout(services, id, {
      approvals: [{ ring: null, approved: true, actor: 'user:a', by: 'A', at: '', planHash: '', note: null }],
    });
    await at(0).declare('probe', { version: '1.2.0.0' });
    await at(1).declare('probe', { version: '1.1.0.0' });
    const row = await checked(id);
    expect(row).toMatchObject({ state: 'planned', approvals: [], startedBy: null, startedAt: null, members: 2 });
    expect(reasonOf(row)).toEqual(['plan_moved_on', { cause: 'members', moved: 2, allowed: 0, 'update-none': 2 }]);
    expect(row.planHash).not.toBe(planHash);
    await setRollout(services, id, { state: 'checking' });
    expect((await checked(id)).state).toBe('running');
  });

  test('counts VMs that came, and kinds that differ', async () => {
    const change = { ...upgrade, publicSettings: { merge: { level: 'info' } } };
    await at(0).declare('probe', { version: '1.1.0.0', settings: { publicSettings: { level: 'info' } } });
    const id = await started({ change });
    await at(0).declare('probe', { version: '1.1.0.0', settings: { publicSettings: { level: 'warn' } } });
    await at(1).declare('probe', { version: '1.1.0.0' });
    const [, params] = reasonOf(await checked(id));
    expect(params).toEqual({
      ...{ cause: 'members', moved: 2, allowed: 0 },
      ...{ 'none-settings': 1, 'update-settings': 1 },
    });
  });

  test('runs if as many of them moved as it allows, with the members that were approved', async () => {
    const id = await started({ maxMovedShare: 2_500 });
    const members = await membersOf(services, id);
    await at(0).declare('probe', { version: '1.2.0.0' });
    expect(await checked(id)).toMatchObject({ state: 'running', members: 4 });
    expect(await membersOf(services, id)).toEqual(members);
    const other = await started({ maxMovedShare: 3_333, select: { ids: vms.slice(1).map(({ vmId }) => vmId) } });
    await setRollout(services, id, { state: 'finished' });
    await at(1).declare('probe', { version: '1.2.0.0' });
    expect(await checked(other)).toMatchObject({ state: 'planned', why: [{ params: { moved: 1, allowed: 0 } }] });
  });
});

describe('RO-5 a rollout does not start, however many members may move, if', () => {
  const anyMoves = { maxMovedShare: 10_000 };
  const moved = ['plan_moved_on', { cause: 'definition' }];

  test.each([
    ['version was withdrawn', { state: 'withdrawn' as const }, { state: 'published' as const }],
    ['package is another', { sha256: 'f'.repeat(64) }, {}],
    ['settings have another schema', { settingsSchema: { publicSettings: true } }, { settingsSchema: null }],
  ])('its %s', async (_, values, restored) => {
    const id = await started(anyMoves);
    const version = services.db.update(handlerVersions);
    await version.set(values).where(eq(handlerVersions.version, '1.1.0.0'));
    const row = await checked(id);
    if (Object.keys(restored).length > 0) await version.set(restored).where(eq(handlerVersions.version, '1.1.0.0'));
    expect(reasonOf(row)).toEqual(moved);
  });

  test.each<[string, Partial<Definition>]>([
    ['change', { change: { ...upgrade, allowLower: true } }],
    ['selection', { select: { all: true } }],
    ['rings', { rings: [] }],
  ])('its %s was edited behind its plan', async (_, values) => {
    const id = await started(anyMoves);
    const { definition } = await rowOf(services, id);
    await setRollout(services, id, { definition: { ...definition, ...values } });
    expect(reasonOf(await checked(id))).toEqual(moved);
  });

  test('its members or their order were edited behind its plan', async () => {
    const id = await started(anyMoves);
    await services.db.execute(sql`
      update rollout_members set vm_ids = array[vm_ids[2], vm_ids[1], vm_ids[3], vm_ids[4]] where rollout_id = ${id}`);
    expect(reasonOf(await checked(id))).toEqual(moved);
  });

  test('its protected settings are others', async () => {
    const change = { ...upgrade, protectedSettings: 'given' as const };
    const id = await givenPlanning(services, { ...anyMoves, change, select: { ids: [at(0).vmId] } });
    const sealed = (text: string) =>
      seal(services.keys.sealing, Buffer.from(JSON.stringify({ text })), `rollout/${id}`);
    await setRollout(services, id, { sealed: sealed('one'), setBy: 'user:test' });
    await planRollout(services, id);
    await setRollout(services, id, { state: 'checking', sealed: sealed('one') });
    expect((await checked(id)).state).toBe('running');
    await setRollout(services, id, { state: 'checking', startedAt: null, sealed: sealed('two') });
    expect(reasonOf(await checked(id))).toEqual(moved);
  });
});

test('RO-5 two plans of the same rollout have different hashes', async () => {
  const id = await started();
  const { planHash } = await rowOf(services, id);
  await setRollout(services, id, { state: 'planning', startedBy: null });
  await planRollout(services, id);
  expect((await rowOf(services, id)).planHash).not.toBe(planHash);
});

test('RO-14 a rollout that opened since the plan keeps another one from starting until it is accepted', async () => {
  const id = await started();
  const other = await started({ select: { ids: [at(0).vmId] } });
  await setRollout(services, other, { name: 'Other', state: 'running' });
  const row = await checked(id);
  expect(reasonOf(row)).toEqual(['plan_moved_on', { cause: 'overlap', rollouts: 'Other' }]);
  expect(row.plan?.overlaps).toEqual([{ id: other, name: 'Other', members: 1 }]);
  await setRollout(services, id, { state: 'checking', acceptedOverlap: [other] });
  expect((await checked(id)).state).toBe('running');
});

test('a check that fails leaves the rollout planned, with the reason', async () => {
  const id = await started();
  const { definition } = await rowOf(services, id);
  await setRollout(services, id, { definition: { ...definition, select: { include: {} } } });
  expect(await checked(id)).toMatchObject({ state: 'planned', why: [{ code: 'plan_failed' }] });
});
