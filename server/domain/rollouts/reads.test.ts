import { beforeAll, describe, expect, test } from 'vitest';
import { rolloutCurve, vmHealth } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { emptyCounts } from '#server/domain/rollout-rules/counts.ts';
import { listFleet } from '#server/domain/views/index.ts';
import { testContext } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { outcomeOf } from '#server/testing/records.ts';
import {
  getCells,
  getCurve,
  getRollout,
  getRolloutPlan,
  listPlanVms,
  listRolloutSteps,
  listRollouts,
  listRolloutsOfVm,
} from './index.ts';
import { givenMembers, givenRollout, givenStep, probePlan } from './testing/given-rollout.ts';

let ctx: Context;
let viewer: Context;
let machines: GivenVm[];
let id: string;
const touched = [
  { name: 'probe', sequenceNumber: 4, version: '1.1.0.0', before: { version: '1.0.0.0', sequenceNumber: 3 } },
];

beforeAll(async () => {
  ctx = await testContext({ role: 'operator' });
  viewer = await testContext({ services: ctx, role: 'viewer' });
  machines = [];
  for (let n = 0; n < 10; n += 1) machines.push(await givenVm(ctx));
  await ctx.db.insert(vmHealth).values(
    machines.map(({ vmId, name }) => ({
      ...{ vmId, name, tags: {}, since: ctx.now, health: 'unknown' as const, rank: 4, agent: 'never' as const },
    })),
  );
  const counts = { ...emptyCounts(), succeeded: 1, stuck: 1 };
  const rings = [{ state: 'passed' as const, counts }, { counts: { ...emptyCounts(), recalled: 1, parked: 1 } }];
  ({ id } = await givenRollout(ctx, { state: 'running', rings, values: { startedAt: new Date(probePlan.at) } }));
  await givenMembers(ctx, id, [ids(0, 2), ids(2, 5), ids(5, 10)]);
  const after = { touched, beforeIncarnation: 7, incarnation: 8, attempt: 1, publishedAt: ctx.now };
  await givenStep(ctx, { rolloutId: id, vmId: vm(0), state: 'succeeded', ...after, pairVmId: vm(9) });
  await givenStep(ctx, { rolloutId: id, vmId: vm(1), state: 'stuck', cause: 'exit', place: 1, ...after });
  await givenStep(ctx, { rolloutId: id, vmId: vm(2), state: 'parked', cause: 'silent', ring: 1 });
  await givenStep(ctx, { rolloutId: id, vmId: vm(3), state: 'recalled', ring: 1, place: 1 });
});

const vm = (n: number): string => machines[n]?.vmId ?? '';
const nameOf = (n: number): string => machines[n]?.name ?? '';
const ids = (from: number, to: number): string[] => machines.slice(from, to).map(({ vmId }) => vmId);

test('a rollout shows counts that add up to its members', async () => {
  const { counts, rings } = await getRollout(viewer, { id });
  expect(counts).toMatchObject({ members: 10, queued: 7, parked: 1, succeeded: 1, failed: 1, inFlight: 0 });
  for (const { size, counts: ofRing } of rings) {
    const { members, ...states } = ofRing;
    expect([members, Object.values(states).reduce((sum, n) => sum + n, 0)]).toEqual([size, size]);
  }
});

test('steps are listed in order, by page, ring, state and cause', async () => {
  const first = await listRolloutSteps(viewer, { id, limit: 3 });
  const rest = await listRolloutSteps(viewer, { id, limit: 3, cursor: first.nextCursor ?? '' });
  expect([...first.items, ...rest.items].map(({ name, state }) => [name, state])).toEqual([
    [nameOf(0), 'succeeded'],
    [nameOf(1), 'stuck'],
    [nameOf(2), 'parked'],
    [nameOf(3), 'recalled'],
  ]);
  expect(rest.nextCursor).toBeNull();
  expect(first.items[0]).toMatchObject({
    ...{ kind: 'update', ring: 0, place: 0, pair: { vmId: vm(9), name: nameOf(9), result: null } },
    before: { incarnation: 7, extensions: [{ name: 'probe', version: '1.0.0.0', sequenceNumber: 3 }] },
    after: { incarnation: 8, extensions: [{ name: 'probe', version: '1.1.0.0', sequenceNumber: 4 }] },
  });
  const found = async (filter: object) =>
    (await listRolloutSteps(viewer, { id, ...filter })).items.map(({ vmId }) => vmId);
  expect(await found({ state: ['stuck', 'parked'] })).toEqual([vm(1), vm(2)]);
  expect(await found({ ring: 1 })).toEqual([vm(2), vm(3)]);
  expect(await found({ cause: 'exit' })).toEqual([vm(1)]);
  expect(await outcomeOf(listRolloutSteps(viewer, { id, cursor: 'x' }))).toBe('bad_request cursor_invalid');
});

test('the VMs of a plan are listed in order, for operators', async () => {
  const listed: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const { items, nextCursor } = await listPlanVms(ctx, { id, limit: 4, cursor });
    listed.push(...items.map(({ vmId, ring, place }) => `${ring}/${place} ${vmId}`));
    if (nextCursor === null) break;
    cursor = nextCursor;
  }
  const places = ['0/0', '0/1', '1/0', '1/1', '1/2', '2/0', '2/1', '2/2', '2/3', '2/4'];
  expect(listed).toEqual(places.map((place, n) => `${place} ${vm(n)}`));
  expect((await listPlanVms(ctx, { id, ring: 1, kind: 'update' })).items).toHaveLength(3);
  expect((await listPlanVms(ctx, { id, kind: 'remove' })).items).toEqual([]);
  expect(await outcomeOf(listPlanVms(viewer, { id }))).toBe('forbidden forbidden');
  expect(await getRolloutPlan(ctx, { id })).toMatchObject({ hash: probePlan.hash, members: 10 });
  const draft = await givenRollout(ctx);
  expect(await outcomeOf(getRolloutPlan(ctx, { id: draft.id }))).toBe('not_found rollout_plan_unknown');
});

describe('cells', () => {
  test('are one per member while there is room', async () => {
    const { perCell, cells } = await getCells(viewer, { id });
    expect([perCell, cells.length]).toEqual([1, 10]);
    expect(cells[1]).toEqual({
      ...{ ring: 0, place: 1, size: 1, counts: { failed: 1 } },
      vm: { vmId: vm(1), name: nameOf(1), cause: 'exit' },
    });
    expect(cells[9]).toEqual({ ring: 2, place: 4, size: 1, counts: { queued: 1 }, vm: null });
  });

  test('are shared by several members of one ring if there are too many', async () => {
    const many = await givenRollout(ctx, { state: 'running', rings: [{ size: 30 }, { size: 1 }, { size: 30 }] });
    const { perCell, cells } = await getCells(viewer, { id: many.id, cells: 20 });
    expect(perCell).toBe(4);
    expect(cells.map(({ ring, size }) => `${ring}:${size}`).slice(6, 10)).toEqual(['0:4', '0:2', '1:1', '2:4']);
    expect(cells.reduce((sum, { size }) => sum + size, 0)).toBe(61);
  });
});

test('the curve of a ring is listed by time', async () => {
  const numbers = { pairs: 2, changedFirst: 1, controlFirst: 0 };
  for (const [minute, decided] of [
    [2, 20],
    [1, 10],
  ] as const) {
    const at = new Date(Date.UTC(2026, 2, 1, 10, minute));
    await ctx.db.insert(rolloutCurve).values({ rolloutId: id, ring: 1, at, decided, failed: 1, ...numbers });
  }
  const { items } = await getCurve(viewer, { id, ring: 1 });
  expect(items.map(({ decided }) => decided)).toEqual([10, 20]);
  expect(items[0]).toMatchObject({ at: '2026-03-01T10:01:00.000Z', decided: 10, failed: 1, ...numbers });
  expect((await getCurve(viewer, { id })).items).toEqual([]);
});

test('a VM lists the rollouts that changed it', async () => {
  const { items } = await listRolloutsOfVm(viewer, { vmId: vm(1) });
  expect(items).toMatchObject([
    {
      rollout: { id, state: 'running' },
      ring: { index: 0, name: 'canary', size: 2 },
      place: 1,
      state: 'stuck',
      cause: 'exit',
    },
  ]);
  expect(items[0]?.publishedAt).toBe(ctx.now.toISOString());
});

test('a VM lists the open rollouts in which its turn has not come', async () => {
  const { items } = await listRolloutsOfVm(viewer, { vmId: vm(7) });
  expect(items).toMatchObject([{ rollout: { id }, ring: { index: 2, name: 'all' }, place: 2, state: 'queued' }]);
  expect((await listRolloutsOfVm(viewer, { vmId: vm(2) })).items).toHaveLength(1);
});

describe('the list of VMs', () => {
  const found = async (filter: object) => (await listFleet(viewer, filter)).items.map((item) => item.id).toSorted();

  test('is filtered by rollout and state of the step', async () => {
    expect(await found({ rollout: id })).toEqual(ids(0, 10).toSorted());
    expect(await found({ rollout: id, step: ['failed'] })).toEqual([vm(1)]);
    expect(await found({ rollout: id, step: ['parked', 'succeeded'] })).toEqual([vm(0), vm(2)].toSorted());
    expect(await found({ rollout: id, step: ['queued'] })).toEqual([...ids(3, 10)].toSorted());
    expect(await found({ step: ['failed'] })).toEqual([vm(1)]);
    expect(await outcomeOf(listFleet(viewer, { rollout: 'x' } as object))).toMatch('/rollout field_format');
  });
});

describe('the list of rollouts', () => {
  test('is paged, newest first or open ones first', async () => {
    const own = await testContext({ role: 'operator' });
    const made: string[] = [];
    for (const [n, state] of (['running', 'finished', 'draft', 'aborted'] as const).entries()) {
      const now = new Date(Date.UTC(2026, 0, n + 1));
      made.push((await givenRollout({ ...own, now }, { state, definition: { name: `r${n}%` } })).id);
    }
    const all = async (filter: object) => {
      const listed: number[] = [];
      for (let cursor: string | undefined; ; ) {
        const { items, nextCursor } = await listRollouts(own, { limit: 1, cursor, ...filter });
        listed.push(...items.map((item) => made.indexOf(item.id)));
        if (nextCursor === null) return listed;
        cursor = nextCursor;
      }
    };
    expect(await all({})).toEqual([3, 2, 1, 0]);
    expect(await all({ sort: 'open' })).toEqual([2, 0, 3, 1]);
    expect(await all({ state: ['draft', 'running'] })).toEqual([2, 0]);
    expect(await all({ q: '1%' })).toEqual([1]);
    expect(await all({ handler: 'Acme.Lab.Other' })).toEqual([]);
    expect(await all({ kind: ['bulk'] })).toEqual([]);
  });

  test('says which rollouts need a person', async () => {
    const own = await testContext({ role: 'operator' });
    const needs = async (terms: Parameters<typeof givenRollout>[1]) =>
      (await getRollout(own, { id: (await givenRollout(own, terms)).id })).needsPerson;
    expect(await needs({ state: 'paused', values: { pausedBy: 'gate' } })).toBe(true);
    expect(await needs({ state: 'paused', values: { pausedBy: 'person' } })).toBe(false);
    expect(await needs({ state: 'planned', values: { why: [{ code: 'plan_moved_on' }] } })).toBe(true);
    expect(await needs({ state: 'draft', values: { why: [{ code: 'plan_failed' }] } })).toBe(true);
    expect(await needs({ state: 'running', values: { next: { code: 'ring_approval', ring: 1 } } })).toBe(true);
    expect(await needs({ state: 'running' })).toBe(false);
  });
});
