import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { healthChecks, rolloutCurve, rolloutMembers, rolloutRings, rolloutSteps, rollouts } from '#db/schema/index.ts';
import { emptyCounts } from '#server/domain/rollout-rules/counts.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { closeRollout } from '../close-rollout.ts';
import { getCurve } from '../get-curve.ts';
import { type RolloutStage, rolloutStage } from '../testing/rollout-stage.ts';
import { findRolloutWork } from './due.ts';

let stage: RolloutStage;

beforeEach(async () => {
  stage = await rolloutStage();
});

const curveOf = async (id: string, ring = 0) => (await getCurve(stage.operator, { id, ring })).items;

describe('the curve of a ring', () => {
  test('has a point whenever a step is decided, and none for looks that decide nothing', async () => {
    const vms = (await stage.givenFleet(3)) as [GivenVm, GivenVm, GivenVm];
    const id = await stage.givenRollout(vms);
    await stage.pass(1);
    expect(await curveOf(id)).toEqual([]);
    await stage.succeed(vms[0], 10);
    await stage.look(11);
    await stage.look(12);
    await stage.fail(vms[1], 20);
    await stage.look(21);
    await stage.succeed(vms[2], 30);
    await stage.look(31);
    const numbers = { pairs: 0, changedFirst: 0, controlFirst: 0 };
    expect(await curveOf(id)).toMatchObject([
      { at: stage.at(11).toISOString(), decided: 1, failed: 0, ...numbers },
      { at: stage.at(21).toISOString(), decided: 2, failed: 1, ...numbers },
      { at: stage.at(31).toISOString(), decided: 3, failed: 1, ...numbers },
    ]);
  });

  test('belongs to the ring', async () => {
    const vms = await stage.givenFleet(2);
    const id = await stage.givenRollout(vms, { rings: [{ size: 1 }, { size: 1 }] });
    for (const seconds of [0, 10]) {
      await stage.look(seconds + 1);
      const [vm] = (await stage.vmsIn(id, vms, 'inFlight')) as [GivenVm];
      await stage.succeed(vm, seconds + 5);
      await stage.look(seconds + 6);
    }
    expect((await curveOf(id, 0)).map(({ at }) => at)).toEqual([stage.at(6).toISOString()]);
    expect((await curveOf(id, 1)).map(({ at }) => at)).toEqual([stage.at(16).toISOString()]);
  });

  test('is thinned to half when it has more than 240 points, and keeps its ends', async () => {
    const vms = (await stage.givenFleet(1)) as [GivenVm];
    const id = await stage.givenRollout(vms);
    const points = Array.from({ length: 240 }, (_, n) => ({
      ...{ rolloutId: id, ring: 0, at: stage.at(n - 1_000) },
      ...{ decided: n, failed: 0, pairs: 0, changedFirst: 0, controlFirst: 0 },
    }));
    await stage.db.insert(rolloutCurve).values(points);
    await stage.pass(1);
    expect(await curveOf(id)).toHaveLength(240);
    await stage.succeed(vms[0], 10);
    await stage.look(11);
    const thinned = await curveOf(id);
    expect(thinned).toHaveLength(121);
    expect(thinned[0]).toMatchObject({ at: stage.at(-1_000).toISOString() });
    expect(thinned.at(-1)).toMatchObject({ at: stage.at(11).toISOString(), decided: 1 });
  });
});

test('the activity says which rings opened and passed, and how the rollout ended', async () => {
  const vms = await stage.givenFleet(2);
  const id = await stage.givenRollout(vms, { rings: [{ size: 1 }, { size: 0 }, { size: 1 }] });
  for (const seconds of [0, 10]) {
    await stage.look(seconds + 1);
    for (const vm of await stage.vmsIn(id, vms, 'inFlight')) await stage.succeed(vm, seconds + 5);
    await stage.look(seconds + 6);
  }
  const actor = { actorKind: 'system', actorId: `rollout/${id}`, actorName: 'probe 1.1' };
  expect(await stage.activity(id, 'rollout.ring-open')).toMatchObject([
    { ...actor, details: { ring: 0, ringName: 'ring 0' } },
    { details: { ring: 1 } },
    { details: { ring: 2 } },
  ]);
  expect(await stage.activity(id, 'rollout.ring-pass')).toMatchObject([
    { details: { ring: 0, counts: { decided: 1, failed: 0, members: 1 } } },
    { details: { ring: 1, counts: { members: 0 } } },
    { details: { ring: 2, counts: { decided: 1 } } },
  ]);
  expect(await stage.activity(id, 'rollout.finish')).toMatchObject([{ ...actor, details: { state: 'finished' } }]);
  const work = await findRolloutWork(stage.services, { withUpgrades: true });
  expect(work).toEqual({ isOpen: false, at: null, isUnplanned: false, upgrades: [] });
});

test('while more steps wait to be judged than one pass judges, no step begins', async () => {
  const [vm] = (await stage.givenFleet(1)) as [GivenVm];
  const id = await stage.givenRollout([vm], { rings: [{ size: 1, inFlight: { count: 5_000 } }] });
  await stage.setRules(0, { inFlight: 5_000 });
  // VMs that were deleted while their steps were in flight.
  const deleted = Array.from({ length: 2_001 }, () => randomUUID());
  await stage.db.execute(sql`
    insert into vms (id, name, tags, created_at, created_by, deleted_at)
    select id, 'gone-' || id, '{}', now(), 'Test', now() from unnest(${sql.param(deleted)}::uuid[]) as id`);
  await stage.db.insert(rolloutSteps).values(
    deleted.map((vmId, place) => ({
      ...{ rolloutId: id, vmId, ring: 0, place, kind: 1, state: 'inFlight' as const, incarnation: 1, attempt: 1 },
      ...{ publishedAt: stage.at(0), dueAt: stage.at(1), updatedAt: stage.at(0) },
    })),
  );
  const members = { rolloutId: id, ring: 0, first: 0, low: '0', high: 'g', vmIds: deleted, kinds: Buffer.alloc(2_001) };
  await stage.db.update(rolloutMembers).set({ first: 2_001 });
  await stage.db.insert(rolloutMembers).values(members);
  await stage.db.update(rolloutRings).set({ size: 2_002, taken: 2_001, counts: { ...emptyCounts(), inFlight: 2_001 } });
  await stage.db.update(rollouts).set({ members: 2_002, dueAt: stage.at(1) });
  await stage.passOnce(1);
  expect(await stage.counts(id)).toEqual({ members: 2_002, gone: 2_000, inFlight: 1, queued: 1 });
  expect((await stage.rollout(id)).why[0]).toMatchObject({ code: 'catching_up' });
  expect(await stage.step(id, vm)).toBeUndefined();
  await stage.pass(1);
  expect(await stage.counts(id)).toEqual({ members: 2_002, gone: 2_001, inFlight: 1 });
  expect(await stage.step(id, vm)).toMatchObject({ state: 'inFlight' });
});

test('while health is not evaluated yet, the rollout says so, and no step begins', async () => {
  const vms = await stage.givenFleet(5);
  const id = await stage.givenRollout(vms, { rings: [{ size: 5, inFlight: { count: 4 } }] });
  await stage.pass(1);
  const [first, ...others] = (await stage.vmsIn(id, vms, 'inFlight')) as [GivenVm, ...GivenVm[]];
  await stage.succeed(first, 10);
  for (const vm of others) await stage.succeed(vm, 10);
  const mark = (vm: GivenVm) =>
    stage.db
      .update(healthChecks)
      .set({ dueAt: new Date(0) })
      .where(eq(healthChecks.vmId, vm.vmId));
  for (const vm of others) await mark(vm);
  await stage.look(11);
  expect(await stage.counts(id)).toEqual({ members: 5, succeeded: 1, inFlight: 3, queued: 1 });
  expect(await stage.rollout(id)).toMatchObject({ why: [{ code: 'catching_up' }, { code: 'steps_open' }] });
  await stage.fold(12);
  await stage.look(13);
  expect(await stage.counts(id)).toEqual({ members: 5, succeeded: 4, inFlight: 1 });
  expect((await stage.rollout(id)).why.map(({ code }) => code)).toEqual(['steps_open']);
});

test('one of many VMs that is not evaluated yet holds no other up', async () => {
  const vms = await stage.givenFleet(4);
  const id = await stage.givenRollout(vms, { rings: [{ size: 4, inFlight: { count: 3 } }] });
  await stage.pass(1);
  const begun = await stage.vmsIn(id, vms, 'inFlight');
  for (const vm of begun) await stage.succeed(vm, 10);
  const { vmId } = begun[0] as GivenVm;
  await stage.db
    .update(healthChecks)
    .set({ dueAt: new Date(0) })
    .where(eq(healthChecks.vmId, vmId));
  await stage.look(11);
  expect(await stage.counts(id)).toEqual({ members: 4, succeeded: 2, inFlight: 2 });
});

describe('newcomers', () => {
  const tagged = { tags: [{ name: 'env', value: 'prod' }] };

  /** Creates a rollout for VMs with a tag whose only member succeeded. */
  async function givenKeeping(given: object = {}): Promise<string> {
    const [known] = (await stage.givenFleet(1, { tags: { env: 'prod' } })) as [GivenVm];
    await stage.fold(0);
    const id = await stage.givenRollout([known], { newcomers: 'include', select: { include: tagged }, ...given });
    await stage.pass(1);
    await stage.succeed(known, 10);
    await stage.look(11);
    await stage.look(12);
    return id;
  }

  test('are judged by gates that count only what began since', async () => {
    const id = await givenKeeping({ rings: [{ size: 1, errors: { count: 1 } }] });
    expect(await stage.rollout(id)).toMatchObject({ state: 'keeping' });
    const [bad] = (await stage.givenFleet(1, { tags: { env: 'prod' } })) as [GivenVm];
    await stage.fold(20);
    await stage.look(80);
    await stage.fail(bad, 90);
    await stage.look(91);
    expect(await stage.rollout(id)).toMatchObject({
      state: 'paused',
      why: [{ code: 'errors_count', params: { failed: 1, decided: 1 } }],
    });
    expect(await stage.counts(id)).toEqual({ members: 2, succeeded: 1, failed: 1 });
  });

  test('join once, and not if they have the version already or are excluded', async () => {
    const id = await givenKeeping({
      select: { include: tagged, exclude: { tags: [{ name: 'rollouts', value: 'off' }] } },
    });
    const [joins] = await stage.givenFleet(1, { tags: { env: 'prod' } });
    const [done] = (await stage.givenFleet(1, { tags: { env: 'prod' } })) as [GivenVm];
    await done.declare('probe', { version: '1.1.0.0' });
    await stage.givenFleet(1, { tags: { env: 'prod', rollouts: 'off' } });
    await stage.fold(20);
    for (const seconds of [80, 150, 220]) await stage.look(seconds);
    expect(await stage.counts(id)).toEqual({ members: 2, succeeded: 1, inFlight: 1 });
    expect(await stage.step(id, joins as GivenVm)).toMatchObject({ state: 'inFlight' });
  });

  test('are looked for until a person closes the rollout', async () => {
    const id = await givenKeeping();
    await stage.look(30 * 86_400);
    expect(await stage.rollout(id)).toMatchObject({ state: 'keeping' });
    await closeRollout(stage.as(30 * 86_400 + 1), { id });
    await stage.pass(30 * 86_400 + 2);
    expect(await stage.rollout(id)).toMatchObject({ state: 'finished' });
    await stage.givenFleet(1, { tags: { env: 'prod' } });
    await stage.look(31 * 86_400);
    expect(await stage.counts(id)).toEqual({ members: 1, succeeded: 1 });
  });
});

test('a VM whose change is rejected is skipped with the code, and the others continue', async () => {
  const [vm, needs] = (await stage.givenFleet(2)) as [GivenVm, GivenVm];
  await needs.declare('other', { handler: 'Acme.Lab.Other', dependsOn: ['probe'] });
  const id = await stage.givenRollout([vm, needs], { planned: 'remove', change: { kind: 'remove', version: null } });
  await stage.pass(1);
  expect(await stage.step(id, vm)).toMatchObject({ state: 'inFlight' });
  expect(await stage.step(id, needs)).toMatchObject({ state: 'skipped', cause: 'refused:extension_needed' });
  const [row] = await stage.db.select().from(rolloutSteps).where(eq(rolloutSteps.vmId, needs.vmId));
  expect(row).toMatchObject({ touched: [], incarnation: null, dueAt: null, decidedAt: stage.at(1) });
});
