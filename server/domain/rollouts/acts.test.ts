import { beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { type RolloutState, rolloutStates } from '#server/domain/rollout-rules/words.ts';
import { testContext } from '#server/testing/context.ts';
import { changesSince, markOf, outcomeOf } from '#server/testing/records.ts';
import type { RolloutView } from './answers.ts';
import {
  abortRollout,
  advanceRollout,
  closeRollout,
  pauseRollout,
  removeRollout,
  requestPlan,
  resumeRollout,
  retryRollout,
  revertRollout,
  startRollout,
  unscheduleRollout,
} from './index.ts';
import { givenRollout, planHash, rowOf } from './testing/given-rollout.ts';

let ctx: Context;
beforeAll(async () => {
  ctx = await testContext({ role: 'operator' });
});

type Act = (ctx: Context, id: string) => Promise<RolloutView | undefined>;

/** For each act: what calls it, the state that it leads to, from which states, and in which its effect holds already. */
const acts: Record<string, { act: Act; to: RolloutState; from: RolloutState[]; holds: RolloutState[] }> = {
  plan: {
    act: (ctx, id) => requestPlan(ctx, { id }),
    ...{ to: 'planning', from: ['draft', 'planned'], holds: ['planning'] },
  },
  start: {
    act: (ctx, id) => startRollout(ctx, { id, plan: planHash }),
    ...{ to: 'checking', from: ['planned'], holds: ['checking', 'scheduled', 'running'] },
  },
  unschedule: {
    act: (ctx, id) => unscheduleRollout(ctx, { id }),
    ...{ to: 'planned', from: ['scheduled'], holds: ['planned'] },
  },
  pause: {
    act: (ctx, id) => pauseRollout(ctx, { id, reason: 'looks odd' }),
    ...{ to: 'paused', from: ['running', 'keeping'], holds: ['paused'] },
  },
  resume: {
    act: (ctx, id) => resumeRollout(ctx, { id }),
    ...{ to: 'running', from: ['paused'], holds: ['checking', 'running', 'keeping'] },
  },
  abort: {
    act: (ctx, id) => abortRollout(ctx, { id }),
    ...{ to: 'aborting', from: ['scheduled', 'running', 'paused', 'keeping'], holds: ['aborting', 'aborted'] },
  },
  close: { act: (ctx, id) => closeRollout(ctx, { id }), to: 'keeping', from: ['keeping'], holds: ['finished'] },
  advance: {
    act: (ctx, id) => advanceRollout(ctx, { id, ring: 0, reason: 'urgent' }),
    ...{ to: 'running', from: ['running'], holds: [] },
  },
};

const cases = Object.entries(acts).flatMap(([name, of]) =>
  rolloutStates.map((state) => {
    const outcome = of.from.includes(state) ? `leads to ${of.to}` : of.holds.includes(state) ? 'holds' : 'is rejected';
    return { name, state, outcome, act: of.act };
  }),
);

test.each(cases)('$name in the state $state $outcome', async ({ state, outcome, act }) => {
  const { id } = await givenRollout(ctx, { state });
  const [before, mark] = [await rowOf(ctx, id), await markOf(ctx.db)];
  const done = await outcomeOf(act(ctx, id));
  const after = await rowOf(ctx, id);
  if (outcome.startsWith('leads to')) {
    expect([done, `leads to ${after.state}`]).toEqual(['done', outcome]);
    expect(await changesSince(ctx.db, mark)).toContain(`rollout ${id}`);
    if (after.state !== 'planned') expect(after.dueAt).toEqual(ctx.now);
    return;
  }
  expect(done).toBe(outcome === 'holds' ? 'done' : 'conflict rollout_state');
  expect(after).toEqual(before);
  expect(await changesSince(ctx.db, mark)).toEqual([]);
});

describe('stopping', () => {
  test('RO-30 abort works from scheduled, running, paused and keeping, and twice', async () => {
    for (const state of ['scheduled', 'running', 'paused', 'keeping'] as const) {
      const { id } = await givenRollout(ctx, { state, values: { pausedBy: state === 'paused' ? 'gate' : null } });
      const first = await abortRollout(ctx, { id, reason: 'wrong version' });
      expect(first).toMatchObject({ state: 'aborting', pausedBy: null, why: [], next: null });
      expect(await abortRollout(ctx, { id })).toEqual(first);
    }
    const { id } = await givenRollout(ctx, { state: 'finished' });
    expect(await outcomeOf(abortRollout(ctx, { id }))).toBe('conflict rollout_state');
  });

  test('a paused rollout says who paused it, and why', async () => {
    const { id } = await givenRollout(ctx, { state: 'running' });
    const paused = await pauseRollout(ctx, { id, reason: 'looks odd' });
    expect(paused).toMatchObject({ state: 'paused', pausedBy: 'person', recalling: 0, needsPerson: false });
    expect(paused.why).toEqual([
      { code: 'person', params: { by: 'Test operator', reason: 'looks odd' }, since: ctx.now.toISOString() },
    ]);
  });

  test('resume counts the time without progress from now on', async () => {
    const { id } = await givenRollout(ctx, {
      state: 'paused',
      values: { progressAt: new Date(0), pausedBy: 'portal' },
    });
    await resumeRollout(ctx, { id });
    expect(await rowOf(ctx, id)).toMatchObject({ progressAt: ctx.now, epoch: ctx.epoch, why: [], pausedBy: null });
  });

  test('a rollout that has passed every ring is resumed to keeping', async () => {
    const rings = [0, 1, 2].map(() => ({ state: 'passed' as const }));
    const { id } = await givenRollout(ctx, { state: 'paused', rings });
    expect((await resumeRollout(ctx, { id })).state).toBe('keeping');
  });

  test('a closed rollout keeps nothing any longer', async () => {
    const { id } = await givenRollout(ctx, { state: 'keeping', definition: { newcomers: 'include' } });
    await closeRollout(ctx, { id });
    expect((await rowOf(ctx, id)).definition).toMatchObject({ keepDays: 0, newcomers: 'ignore' });
  });
});

describe('deleting', () => {
  test.each(rolloutStates)('in the state %s', async (state) => {
    const { id } = await givenRollout(ctx, { state });
    const isUnstarted = ['draft', 'planning', 'planned'].includes(state);
    expect(await outcomeOf(removeRollout(ctx, { id }))).toBe(isUnstarted ? 'done' : 'conflict rollout_state');
    expect(
      await outcomeOf(
        rowOf(ctx, id)
          .then(() => undefined)
          .catch(() => undefined),
      ),
    ).toBe('done');
  });

  test('a deleted rollout is unknown', async () => {
    const { id } = await givenRollout(ctx);
    await removeRollout(ctx, { id });
    expect(await outcomeOf(removeRollout(ctx, { id }))).toBe('not_found rollout_unknown');
  });
});

describe('rollouts that follow from others', () => {
  const started: RolloutState[] = ['scheduled', 'running', 'paused', 'keeping', 'aborting', 'aborted', 'finished'];

  test.each(rolloutStates)('reverting in the state %s', async (state) => {
    const { id } = await givenRollout(ctx, { state });
    const done = revertRollout(ctx, { id, only: 'failed' });
    if (!started.includes(state)) return expect(await outcomeOf(done)).toBe('conflict rollout_state');
    const revert = await done;
    expect(revert).toMatchObject({ kind: 'revert', state: 'planning', of: id, startedBy: null });
    expect(revert.definition.select).toEqual({ include: { rollout: id, step: ['failed'] } });
    const isOpen = !['aborted', 'finished'].includes(state);
    expect(await rowOf(ctx, id)).toMatchObject({ state: isOpen ? 'aborting' : state, revertedBy: revert.id });
  });

  test('a revert has one ring without gates, and may start as soon as it is planned', async () => {
    const { id } = await givenRollout(ctx, { state: 'finished' });
    const revert = await revertRollout(ctx, { id, ring: 1, start: true });
    const { definition, startedBy } = await rowOf(ctx, revert.id);
    expect(startedBy).toBe('Test operator');
    expect(definition).toMatchObject({ select: { include: { rollout: id }, ring: 1 }, change: { kind: 'revert' } });
    expect(definition.rings).toHaveLength(1);
    const gates = {
      soakSeconds: 0,
      bakeSeconds: 0,
      errors: null,
      success: null,
      compare: null,
      inFlight: { share: 1_000 },
    };
    expect(definition.rings[0]?.gates).toMatchObject(gates);
    expect(await outcomeOf(revertRollout(ctx, { id, ring: 3 }))).toBe('unprocessable invalid; /ring field_too_big');
  });

  test('a retry of failed members repeats what they have, and others get the change', async () => {
    const { id } = await givenRollout(ctx, { state: 'finished' });
    const failed = await retryRollout(ctx, { id, of: 'failed' });
    expect(failed).toMatchObject({ state: 'draft', kind: 'rollout', of: id, change: { kind: 'retry', version: null } });
    const skipped = await retryRollout(ctx, { id, of: 'skipped' });
    expect(skipped.change).toMatchObject({ kind: 'set', version: '1.1.0.0' });
    expect(skipped.definition.select).toEqual({ include: { rollout: id, step: ['skipped'] } });
    const running = await givenRollout(ctx, { state: 'draft' });
    expect(await outcomeOf(retryRollout(ctx, { id: running.id, of: 'failed' }))).toBe('conflict rollout_state');
  });
});
