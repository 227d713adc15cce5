import { beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { writeCursor } from '#server/domain/cursor.ts';
import { memberKinds, stepStates } from '#server/domain/rollout-rules/words.ts';
import { testContext } from '#server/testing/context.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { outcomeOf } from '#server/testing/records.ts';
import type { StepView } from './answers.ts';
import { listPlanVms, listRolloutSteps } from './index.ts';
import type { ListStepsInput } from './input.ts';
import { allPages, givenMachines } from './testing/given-machines.ts';
import { givenMembers, givenRollout, givenStep } from './testing/given-rollout.ts';

let ctx: Context;
let viewer: Context;
let machines: GivenVm[];
let id: string;

const vm = (n: number): string => machines[n]?.vmId ?? '';
const places = (items: { ring: number; place: number }[]): string[] =>
  items.map(({ ring, place }) => `${ring}/${place}`);

/** One step in each state: seven in each of two rings. */
beforeAll(async () => {
  ctx = await testContext({ role: 'operator' });
  viewer = await testContext({ services: ctx, role: 'viewer' });
  machines = await givenMachines(ctx, stepStates.length);
  ({ id } = await givenRollout(ctx, { state: 'running' }));
  await givenMembers(ctx, id, [machines.slice(0, 7).map(({ vmId }) => vmId), machines.slice(7).map((of) => of.vmId)]);
  for (const [n, state] of stepStates.entries()) {
    const cause = n % 2 === 0 ? 'exit' : null;
    await givenStep(ctx, { rolloutId: id, vmId: vm(n), state, cause, ring: n < 7 ? 0 : 1, place: n % 7 });
  }
});

const list = async (input: Partial<ListStepsInput> = {}): Promise<StepView[]> =>
  (await listRolloutSteps(viewer, { id, ...input })).items;

describe('the steps of a rollout', () => {
  test.each([1, 3, 7, 13, 14, 200])('are complete and in order in pages of %i', async (limit) => {
    const pages = await allPages((cursor) => listRolloutSteps(viewer, { id, limit, cursor }));
    expect(pages.flat().map(({ vmId }) => vmId)).toEqual(machines.map(({ vmId }) => vmId));
    expect(pages).toHaveLength(Math.ceil(stepStates.length / limit));
  });

  test.each(stepStates.map((state, n) => ({ state, n })))('are filtered by the state $state', async ({ state, n }) => {
    expect((await list({ state: [state] })).map((step) => [step.vmId, step.state])).toEqual([[vm(n), state]]);
  });

  test('are filtered by several fields together, page by page', async () => {
    expect(places(await list({ ring: 1, cause: 'exit' }))).toEqual(['1/1', '1/3', '1/5']);
    expect(await list({ ring: 1, state: ['parked'] })).toEqual([]);
    expect(await list({ ring: 19 })).toEqual([]);
    expect(await list({ cause: '%' })).toEqual([]);
    const pages = await allPages((cursor) => listRolloutSteps(viewer, { id, limit: 2, cause: 'exit', cursor }));
    expect(places(pages.flat())).toEqual(['0/0', '0/2', '0/4', '0/6', '1/1', '1/3', '1/5']);
  });

  test('are those of this rollout only', async () => {
    const other = await givenRollout(ctx, { state: 'finished' });
    await givenStep(ctx, { rolloutId: other.id, vmId: vm(0), state: 'succeeded' });
    expect((await list()).filter(({ vmId }) => vmId === vm(0))).toHaveLength(1);
    expect((await listRolloutSteps(viewer, { id: other.id })).items.map(({ state }) => state)).toEqual(['succeeded']);
  });

  test('state what is installed before and after, even if that is nothing', async () => {
    const other = await givenRollout(ctx, { state: 'finished' });
    const before = { version: '1.0.0.0', sequenceNumber: 3 };
    const touched = [
      { name: 'new', sequenceNumber: 1, version: '1.1.0.0', before: null },
      { name: 'old', sequenceNumber: 4, version: null, before },
    ];
    const values = { kind: memberKinds.indexOf('install'), touched, incarnation: 2, attempt: 3 };
    await givenStep(ctx, { rolloutId: other.id, vmId: vm(1), state: 'succeeded', ...values, publishedAt: ctx.now });
    const [step] = (await listRolloutSteps(viewer, { id: other.id })).items;
    expect(step).toMatchObject({ kind: 'install', attempt: 3, publishedAt: ctx.now.toISOString(), pair: null });
    expect([step?.healthyAt, step?.decidedAt, step?.overtakenBy]).toEqual([null, null, null]);
    expect(step?.before).toEqual({
      incarnation: null,
      extensions: [
        { name: 'new', version: null, sequenceNumber: null },
        { name: 'old', ...before },
      ],
    });
    expect(step?.after).toEqual({
      incarnation: 2,
      extensions: [
        { name: 'new', version: '1.1.0.0', sequenceNumber: 1 },
        { name: 'old', version: null, sequenceNumber: 4 },
      ],
    });
  });

  test('name who overtook them, and the VM that was watched together with them, with the result', async () => {
    const other = await givenRollout(ctx, { state: 'finished' });
    const overtakenBy = { by: 'Ada', action: 'extension.set', at: '2026-03-01T10:00:00.000Z' };
    const pair = { pairVmId: vm(3), pairResult: 'changed-first' as const };
    await givenStep(ctx, { rolloutId: other.id, vmId: vm(2), state: 'overtaken', overtakenBy, ...pair });
    const [step] = (await listRolloutSteps(viewer, { id: other.id })).items;
    expect(step?.overtakenBy).toEqual(overtakenBy);
    expect(step?.pair).toEqual({ vmId: vm(3), name: machines[3]?.name, result: 'changed-first' });
  });
});

const unknown = '00000000-0000-4000-8000-000000000000';

describe.each([
  { what: 'steps', read: (input: object) => listRolloutSteps(viewer, { id, ...input }) },
  { what: 'plan', read: (input: object) => listPlanVms(ctx, { id, ...input }) },
])('the list of the $what rejects', ({ read }) => {
  test.each<[string, object, string]>([
    ['an unknown rollout', { id: unknown }, 'not_found rollout_unknown'],
    ['no id', { id: 'probe' }, 'unprocessable invalid; /id field_format'],
    ['a ring that no rollout can have', { ring: 20 }, 'unprocessable invalid; /ring field_too_big'],
    ['a ring before the first', { ring: -1 }, 'unprocessable invalid; /ring field_too_small'],
    ['no rows', { limit: 0 }, 'unprocessable invalid; /limit field_too_small'],
    ['too many rows', { limit: 201 }, 'unprocessable invalid; /limit field_too_big'],
    ['an invalid cursor', { cursor: 'next' }, 'bad_request cursor_invalid'],
    ['a cursor with one key', { cursor: writeCursor(['0']) }, 'bad_request cursor_invalid'],
    ['a cursor with words', { cursor: writeCursor(['first', '0']) }, 'bad_request cursor_invalid'],
    ['a cursor below zero', { cursor: writeCursor(['0', '-1']) }, 'bad_request cursor_invalid'],
    ['a cursor with a large ring', { cursor: writeCursor(['100', '0']) }, 'bad_request cursor_invalid'],
    ['a cursor with a large place', { cursor: writeCursor(['0', '99999999']) }, 'bad_request cursor_invalid'],
  ])('%s', async (_, input, outcome) => {
    expect(await outcomeOf(read(input))).toBe(outcome);
  });

  test('nothing at the end of the order', async () => {
    expect(await read({ cursor: writeCursor(['99', '9999999']) })).toEqual({ items: [], nextCursor: null });
  });
});

describe('the VMs of a plan', () => {
  test('are listed with the kinds of the plan, and filtered by them', async () => {
    const { id: planned } = await givenRollout(ctx, { state: 'planned' });
    const kinds = memberKinds.map((kind, n) => ({ kind, vmId: vm(n) }));
    await givenMembers(ctx, planned, [kinds.map(({ vmId }) => vmId)], [kinds.map(({ kind }) => kind)]);
    const { items } = await listPlanVms(ctx, { id: planned });
    expect(items.map(({ kind, vmId }) => ({ kind, vmId }))).toEqual(kinds);
    expect(items[0]).toEqual({ vmId: vm(0), name: machines[0]?.name, ring: 0, place: 0, kind: 'install' });
    for (const [place, { kind }] of kinds.entries()) {
      expect(places((await listPlanVms(ctx, { id: planned, kind })).items)).toEqual([`0/${place}`]);
    }
    expect(await outcomeOf(listPlanVms(ctx, { id: planned, kind: 'upgrade' as 'update' }))).toMatch(
      '/kind field_choice',
    );
  });

  test('are complete in pages of every size, across rings', async () => {
    for (const limit of [1, 6, 7, 8, 14]) {
      const pages = await allPages((cursor) => listPlanVms(ctx, { id, limit, cursor }));
      expect(pages.flat().map(({ vmId }) => vmId)).toEqual(machines.map(({ vmId }) => vmId));
    }
    const ofRing = await allPages((cursor) => listPlanVms(ctx, { id, ring: 1, limit: 3, cursor }));
    expect(places(ofRing.flat())).toEqual(['1/0', '1/1', '1/2', '1/3', '1/4', '1/5', '1/6']);
  });

  test('are none before the plan', async () => {
    const { id: draft } = await givenRollout(ctx);
    expect(await listPlanVms(ctx, { id: draft })).toEqual({ items: [], nextCursor: null });
  });
});
