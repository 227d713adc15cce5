import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { goalStateHeads, rollouts } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { testContext } from '#server/testing/context.ts';
import { changesSince, markOf, outcomeOf } from '#server/testing/records.ts';
import type { RolloutView } from './answers.ts';
import {
  abortRollout,
  advanceRollout,
  approveRollout,
  closeRollout,
  pauseRollout,
  rejectRollout,
  removeRollout,
  requestPlan,
  resumeRollout,
  revertRollout,
  setRolloutRules,
  startRollout,
  unscheduleRollout,
  updateRollout,
} from './index.ts';
import { givenMachines } from './testing/given-machines.ts';
import {
  activityOf,
  asPerson,
  type GivenTerms,
  givenRollout,
  givenStep,
  planHash,
  rowOf,
} from './testing/given-rollout.ts';

let ctx: Context;
let ada: Context;
beforeAll(async () => {
  ctx = await testContext({ role: 'operator' });
  ada = asPerson(ctx, 'ada');
});

type Acted = (as: Context, view: RolloutView) => Promise<unknown>;
interface Recorded {
  given: GivenTerms;
  act: Acted;
  action: string;
  details: object;
}

const halt = { gate: 'errors' as const, verdict: 'halt' as const, code: 'errors_count', params: {} };
const reason = 'looks odd';

const records: Recorded[] = [
  {
    given: { state: 'planned' },
    act: (as, { id }) => startRollout(as, { id, plan: planHash }),
    ...{ action: 'rollout.start', details: { plan: planHash, members: 10, acceptedOverlap: 0 } },
  },
  {
    given: { state: 'scheduled' },
    act: (as, { id }) => unscheduleRollout(as, { id, reason }),
    ...{ action: 'rollout.unschedule', details: { reason } },
  },
  {
    given: { state: 'running' },
    act: (as, { id }) => pauseRollout(as, { id, reason }),
    ...{ action: 'rollout.pause', details: { reason, recalling: 0 } },
  },
  {
    given: { state: 'paused', rings: [{ state: 'halted', verdicts: [halt] }] },
    act: (as, { id }) => resumeRollout(as, { id, reason, overrule: [{ ring: 0, gate: 'errors' }] }),
    ...{ action: 'rollout.resume', details: { reason, overruled: ['1: errors'] } },
  },
  {
    given: { state: 'running' },
    act: (as, { id }) => advanceRollout(as, { id, ring: 0, reason }),
    ...{ action: 'rollout.advance', details: { reason, ring: '1' } },
  },
  {
    given: { state: 'keeping' },
    act: (as, { id }) => abortRollout(as, { id, reason }),
    ...{ action: 'rollout.abort', details: { reason, from: 'keeping' } },
  },
  {
    given: { state: 'keeping' },
    act: (as, { id }) => closeRollout(as, { id, reason }),
    ...{ action: 'rollout.close', details: { reason } },
  },
  {
    given: { state: 'planned' },
    act: (as, { id }) => approveRollout(as, { id, plan: planHash, note: 'seen' }),
    ...{ action: 'rollout.approve', details: { plan: planHash, note: 'seen' } },
  },
  {
    given: { state: 'running' },
    act: (as, { id }) => approveRollout(as, { id, plan: planHash, ring: 1 }),
    ...{ action: 'rollout.approve', details: { plan: planHash, ring: 'tenth', note: null } },
  },
  {
    given: { state: 'planned' },
    act: (as, { id }) => rejectRollout(as, { id, plan: planHash, reason }),
    ...{ action: 'rollout.reject', details: { plan: planHash, reason } },
  },
  {
    given: { state: 'finished' },
    act: (as, { id }) => revertRollout(as, { id, ring: 1, only: 'failed', start: true }),
    ...{ action: 'rollout.revert', details: { ring: 1, only: 'failed', start: true } },
  },
  {
    given: { state: 'paused' },
    act: (as, { id, definition }) =>
      updateRollout(as, { id, revision: 1, definition: { ...definition, stepsPerSecond: 3 } }),
    ...{ action: 'rollout.edit', details: { revision: 2, changed: ['/stepsPerSecond'] } },
  },
  {
    given: { state: 'draft' },
    act: (as, { id }) => removeRollout(as, { id }),
    ...{ action: 'rollout.delete', details: {} },
  },
];

describe('RO-39 each act of a person is one line of the activity, with its reason and counts:', () => {
  test.each(records)('$action', async ({ given, act, action, details }) => {
    const view = await givenRollout(ctx, given);
    const mark = await markOf(ctx.db);
    await act(ada, view);
    const about = { name: view.name, rolloutKind: 'rollout' };
    expect(await activityOf(ctx, view.id)).toEqual([
      { action, by: 'ada', details: expect.objectContaining({ ...about, ...details }) },
    ]);
    expect(await changesSince(ctx.db, mark)).toContain(`rollout ${view.id}`);
  });

  const repeatable = records.filter(
    ({ action }) => !['rollout.revert', 'rollout.edit', 'rollout.delete'].includes(action),
  );
  test.each(repeatable)(
    '$action once, however often and by however many people it is repeated',
    async ({ given, act }) => {
      const view = await givenRollout(ctx, given);
      await act(ada, view);
      const [row, mark] = [await rowOf(ctx, view.id), await markOf(ctx.db)];
      const later = { ...ada, now: new Date(ctx.now.getTime() + 60_000) };
      await act(later, view);
      expect(await rowOf(ctx, view.id)).toEqual(row);
      expect(await activityOf(ctx, view.id)).toHaveLength(1);
      expect(await changesSince(ctx.db, mark)).toEqual([]);
    },
  );

  test('a request to plan has no line, because it changes nothing', async () => {
    const { id } = await givenRollout(ctx);
    await requestPlan(ada, { id });
    expect(await activityOf(ctx, id)).toEqual([]);
    expect((await rowOf(ctx, id)).authors).toMatchObject({ created: 'user:test-operator', planned: 'user:ada' });
  });

  test('an act that is rejected leaves none', async () => {
    const { id } = await givenRollout(ctx, { state: 'finished' });
    const acts = [pauseRollout, abortRollout, unscheduleRollout];
    for (const act of acts) expect(await outcomeOf(act(ada, { id, reason }))).toBe('conflict rollout_state');
    expect(await activityOf(ctx, id)).toEqual([]);
  });
});

describe('a pause', () => {
  test('says how many goal states are taken back: those that no agent has fetched', async () => {
    const { id } = await givenRollout(ctx, { state: 'running' });
    const machines = await givenMachines(ctx, 4);
    for (const [place, { vmId }] of machines.entries()) {
      const state = place === 3 ? 'succeeded' : 'inFlight';
      await givenStep(ctx, { rolloutId: id, vmId, state, place, incarnation: 5 });
    }
    const fetched = [5, 4, 0, 4];
    for (const [place, { vmId }] of machines.entries()) {
      const values = { incarnation: 5, deliveredIncarnation: fetched[place] ?? 0 };
      await ctx.db.update(goalStateHeads).set(values).where(eq(goalStateHeads.vmId, vmId));
    }
    expect(await pauseRollout(ada, { id })).toMatchObject({ state: 'paused', recalling: 2 });
    expect(await activityOf(ctx, id)).toMatchObject([{ details: { recalling: 2, reason: null } }]);
    expect((await pauseRollout(ada, { id })).recalling).toBe(2);
  });

  test('names who paused, with the reason only if one was given', async () => {
    const { id } = await givenRollout(ctx, { state: 'keeping' });
    const { why } = await pauseRollout(ada, { id });
    expect(why).toEqual([{ code: 'person', params: { by: 'ada' }, since: ctx.now.toISOString() }]);
  });
});

test.each<[string, string, string]>([
  ['an empty reason', '', 'field_empty'],
  ['a blank reason', '   ', 'field_empty'],
  ['a long reason', 'x'.repeat(501), 'field_too_long'],
  ['a reason that turns the text around', 'a\u202eb', 'text_direction'],
  ['a reason with invisible characters', 'a\u200bb', 'text_invisible'],
])('%s is rejected by every act that takes one', async (_, given, code) => {
  const { id } = await givenRollout(ctx, { state: 'running' });
  const input = { id, reason: given };
  const acts: Promise<unknown>[] = [
    pauseRollout(ada, input),
    abortRollout(ada, input),
    resumeRollout(ada, input),
    closeRollout(ada, input),
    unscheduleRollout(ada, input),
    advanceRollout(ada, { ...input, ring: 0 }),
    rejectRollout(ada, { ...input, plan: planHash }),
  ];
  for (const act of acts) expect(await outcomeOf(act)).toBe(`unprocessable invalid; /reason ${code}`);
  expect((await rowOf(ctx, id)).state).toBe('running');
});

test('a reason is kept as it was written, without the space around it', async () => {
  const { id } = await givenRollout(ctx, { state: 'running' });
  await pauseRollout(ada, { id, reason: `  Störung 🙂 "web" ${'x'.repeat(400)} ` });
  const [act] = await activityOf(ctx, id);
  expect(act?.details.reason).toBe(`Störung 🙂 "web" ${'x'.repeat(400)}`);
});

test('an edit of a running rollout names the parts that changed, and the rules that invalidate its approvals', async () => {
  const admin = await testContext({ services: ctx, role: 'admin' });
  const rules = { stepsPerSecond: 100, inFlight: 2_000, freezes: [], availabilitySetTag: 'set' };
  await setRolloutRules(admin, { ...rules, approval: { fromMembers: 10, people: 1, role: 'operator' } });
  for (const kind of ['rollout', 'bulk'] as const) {
    const definition = kind === 'bulk' ? { kind, rings: undefined } : {};
    const view = await givenRollout(ctx, { state: 'planned', definition });
    await approveRollout(ada, { id: view.id, plan: planHash });
    await ctx.db.update(rollouts).set({ state: 'paused' }).where(eq(rollouts.id, view.id));
    const gates = { ...(view.definition.gates as object), noProgressSeconds: 99_999 };
    const edited = await updateRollout(ctx, { id: view.id, revision: 1, definition: { ...view.definition, gates } });
    expect([kind, edited.approvals, edited.approvalsNeeded]).toEqual([kind, [], 1]);
    expect(await outcomeOf(resumeRollout(ctx, { id: view.id }))).toBe('conflict approval_missing');
    const acts = (await activityOf(ctx, view.id)).filter(({ action }) => action === 'rollout.edit');
    expect(acts).toMatchObject([{ details: { revision: 2, changed: ['/gates/noProgressSeconds'] } }]);
    await approveRollout(ada, { id: view.id, plan: (await rowOf(ctx, view.id)).planHash ?? '' });
    expect(await outcomeOf(resumeRollout(ctx, { id: view.id }))).toBe('done');
  }
  await setRolloutRules(admin, { ...rules, approval: null });
});
