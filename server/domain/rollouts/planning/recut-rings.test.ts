import { and, eq } from 'drizzle-orm';
import { pino } from 'pino';
import { beforeAll, describe, expect, test } from 'vitest';
import { rolloutMembers, rolloutRings } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { orderKey } from '#server/domain/rollout-rules/order.ts';
import { boundaryOf } from '#server/domain/rollout-rules/rings.ts';
import type { Definition } from '#server/domain/rollout-rules/stored.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { outcomeOf } from '#server/testing/records.ts';
import type { RolloutView } from '../answers.ts';
import { showRollout } from '../show-rollout.ts';
import { membersOf, ringsOf, ringUpTo, rowOf, setRollout, upgrade } from '../testing/given-draft.ts';
import { type GivenPlan, givenPlan } from '../testing/given-plan.ts';
import { updateRollout } from '../update-rollout.ts';
import type { PlanServices } from './snapshot.ts';

let services: PlanServices;
let operator: Context;
const vms: GivenVm[] = [];

beforeAll(async () => {
  services = { ...(await testServices()), log: pino({ level: 'silent' }) };
  operator = await testContext({ services, role: 'operator' });
  for (const version of ['1.0.0.0', '1.1.0.0']) await givenVersion(services.db, { version });
  for (let n = 0; n < 10; n += 1) {
    const vm = await givenVm(services);
    await vm.declare('probe');
    vms.push(vm);
  }
});

const approval = {
  ...{ ring: 2, approved: true, actor: 'user:ada', by: 'ada', at: '', planHash: 'x', note: null },
};

/** A paused rollout of ten VMs, whose first ring opened. Its rings have 1, 2, 3 and 4 members. */
async function givenPaused(definition: Partial<Definition> = {}): Promise<GivenPlan> {
  const rings = [1_000, 3_000, 6_000, 10_000].map((share) => ringUpTo(share));
  const select = { ids: vms.map(({ vmId }) => vmId) };
  const given = await givenPlan(services, { select, change: upgrade, rings, ...definition });
  await setRollout(services, given.id, { state: 'paused', pausedBy: 'person', startedAt: new Date() });
  const ring = (n: number) => and(eq(rolloutRings.rolloutId, given.id), eq(rolloutRings.ring, n));
  await services.db.update(rolloutRings).set({ state: 'open' }).where(ring(0));
  await services.db
    .update(rolloutRings)
    .set({ approvals: [approval] })
    .where(ring(2));
  return given;
}

/** Edits the boundaries of a rollout's rings, in percent. */
async function move({ id }: GivenPlan, percents: readonly number[]): Promise<RolloutView> {
  const { definition, revision } = await showRollout(operator, id);
  const rings = (definition.rings as object[]).map((ring, at) => ({ ...ring, upTo: { percent: percents[at] } }));
  return updateRollout(operator, { id, revision, definition: { ...definition, rings } });
}

describe('RO-34 boundaries of rings that have not opened', () => {
  test('move while paused, and the order of the members stays', async () => {
    const given = await givenPaused();
    const view = await move(given, [10, 20, 90, 100]);
    expect(view.rings.map(({ first, size }) => [first, size])).toEqual([
      [0, 1],
      [1, 1],
      [2, 7],
      [9, 1],
    ]);
    const members = await membersOf(services, given.id);
    expect(members.map(({ vmId }) => vmId)).toEqual(given.members.map(({ vmId }) => vmId));
    expect(members.map(({ ring }) => ring)).toEqual([0, 1, 2, 2, 2, 2, 2, 2, 2, 3]);
    expect(members.every(({ kind }) => kind === 'update')).toBe(true);
  });

  test('leave every member in one row whose range contains it', async () => {
    const given = await givenPaused();
    await move(given, [10, 50, 60, 100]);
    const rows = await services.db.select().from(rolloutMembers).where(eq(rolloutMembers.rolloutId, given.id));
    for (const { low, high, vmIds } of rows) {
      const keys = vmIds.map((vmId) => orderKey(given.id, vmId)).sort();
      expect([low, high]).toEqual([keys[0], keys.at(-1)]);
    }
    expect(rows.flatMap(({ vmIds }) => vmIds).sort()).toEqual(given.members.map(({ vmId }) => vmId).sort());
  });

  test('give the plan of each ring again, a new hash, and invalidate the approval of a ring with other members', async () => {
    const given = await givenPaused();
    const view = await move(given, [10, 40, 60, 100]);
    const row = await rowOf(services, given.id);
    expect(view.plan?.hash).not.toBe(given.plan.hash);
    expect(row.plan?.rings.map(({ size, kinds, inFlight }) => [size, kinds, inFlight])).toEqual(
      [1, 3, 2, 4].map((size) => [size, { update: size }, 1]),
    );
    const rings = await ringsOf(services, given.id);
    expect(rings.map(({ plan }) => plan)).toEqual(row.plan?.rings);
    expect(rings[2]?.approvals).toEqual([]);
    const [, second] = given.plan.rings;
    expect((row.plan?.rings[1]?.bytes ?? 0) / 3).toBe((second?.bytes ?? 0) / 2);
  });

  test('keep the approval of a ring whose members stay', async () => {
    const given = await givenPaused();
    await move(given, [10, 30, 60, 100]);
    expect((await ringsOf(services, given.id))[2]?.approvals).toEqual([approval]);
  });

  test.each([
    ['a ring that opened', {}, [20, 30, 60, 100], '/rings/0/upTo'],
    [
      'a ring with a filter',
      { rings: [ringUpTo(1_000), ringUpTo(3_000), { ...ringUpTo(6_000), filter: { q: 'x' } }, ringUpTo(10_000)] },
      [10, 40, 60, 100],
      '/rings/1/upTo',
    ],
  ])('do not move beside %s', async (_, definition, percents, path) => {
    const given = await givenPaused(definition);
    expect(await outcomeOf(move(given, percents))).toBe(`conflict rollout_fixed; ${path} rollout_fixed`);
    expect(await membersOf(services, given.id)).toEqual(given.members);
  });

  test('must rise as before', async () => {
    const given = await givenPaused();
    expect(await outcomeOf(move(given, [10, 70, 60, 100]))).toMatch('/rings/2/upTo ring_shares');
  });

  test('lead to the sizes that a plan with these boundaries has', async () => {
    const moved = await givenPaused();
    await move(moved, [10, 55, 77, 100]);
    const sizes = (await ringsOf(services, moved.id)).map(({ first, size }) => first + size);
    expect(sizes).toEqual([1_000, 5_500, 7_700, 10_000].map((share) => boundaryOf({ share }, 10)));
  });
});
