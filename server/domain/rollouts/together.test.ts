import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { rollouts } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { rolloutStates } from '#server/domain/rollout-rules/words.ts';
import { testContext } from '#server/testing/context.ts';
import { outcomeOf } from '#server/testing/records.ts';
import {
  abortRollout,
  advanceRollout,
  approveRollout,
  closeRollout,
  getRollout,
  pauseRollout,
  rejectRollout,
  removeRollout,
  requestPlan,
  resumeRollout,
  setRolloutRules,
  startRollout,
  unscheduleRollout,
  updateRollout,
} from './index.ts';
import { openGiven } from './secrets.ts';
import {
  activityOf,
  asPerson,
  type GivenTerms,
  givenRollout,
  planHash,
  probeDefinition,
  rowOf,
} from './testing/given-rollout.ts';

let ctx: Context;
beforeAll(async () => {
  ctx = await testContext({ role: 'operator' });
});

const people = ['ada', 'bob', 'eve', 'max'];
const by = (name: string): Context => asPerson(ctx, name);
/** Lets four people do the same at the same time. Returns the outcome of each call. */
const together = (act: (as: Context, name: string) => Promise<unknown>) =>
  Promise.all(people.map((name) => outcomeOf(act(by(name), name))));
const all = (outcome: string): string[] => people.map(() => outcome);

describe('four people who do the same together are all answered, and it happens once:', () => {
  const same: [string, GivenTerms, (as: Context, id: string) => Promise<unknown>, string][] = [
    ['start', { state: 'planned' }, (as, id) => startRollout(as, { id, plan: planHash }), 'checking'],
    ['unschedule', { state: 'scheduled' }, (as, id) => unscheduleRollout(as, { id }), 'planned'],
    ['pause', { state: 'running' }, (as, id) => pauseRollout(as, { id }), 'paused'],
    ['resume', { state: 'paused' }, (as, id) => resumeRollout(as, { id }), 'running'],
    ['advance', { state: 'running' }, (as, id) => advanceRollout(as, { id, ring: 0, reason: 'urgent' }), 'running'],
    ['abort', { state: 'running' }, (as, id) => abortRollout(as, { id }), 'aborting'],
    ['close', { state: 'keeping' }, (as, id) => closeRollout(as, { id }), 'keeping'],
  ];

  test.each(same)('%s', async (action, terms, act, state) => {
    const { id } = await givenRollout(ctx, terms);
    expect(await together((as) => act(as, id))).toEqual(all('done'));
    expect((await activityOf(ctx, id)).map((line) => line.action)).toEqual([`rollout.${action}`]);
    expect((await rowOf(ctx, id)).state).toBe(state);
  });

  test('plan', async () => {
    const { id } = await givenRollout(ctx);
    expect(await together((as) => requestPlan(as, { id }))).toEqual(all('done'));
    expect(await rowOf(ctx, id)).toMatchObject({ state: 'planning', planning: 1 });
  });

  test('delete, which only one of them did', async () => {
    const { id } = await givenRollout(ctx);
    const outcomes = await together((as) => removeRollout(as, { id }));
    expect(outcomes.toSorted()).toEqual(['done', ...all('not_found rollout_unknown').slice(1)]);
    expect((await activityOf(ctx, id)).map(({ action }) => action)).toEqual(['rollout.delete']);
  });
});

describe('people who do different things at the same time', () => {
  test('edit: the first edit wins, and the others learn that it changed', async () => {
    for (const state of ['draft', 'planned', 'running', 'paused'] as const) {
      const { id, definition } = await givenRollout(ctx, { state });
      const outcomes = await together((as, name) =>
        updateRollout(as, { id, revision: 1, definition: { ...definition, name } }),
      );
      expect(outcomes.toSorted()).toEqual(['done', ...all('precondition_failed rollout_moved_on').slice(1)]);
      const { name, revision } = await rowOf(ctx, id);
      expect([name, revision]).toEqual([people[outcomes.indexOf('done')], 2]);
    }
  });

  test('edit the same: all of them are answered with the same revision', async () => {
    const { id, definition } = await givenRollout(ctx, { state: 'paused' });
    const edited = { ...definition, note: 'see 1' };
    await updateRollout(ctx, { id, revision: 1, definition: edited });
    expect(await together((as) => updateRollout(as, { id, revision: 2, definition: edited }))).toEqual(all('done'));
    expect((await rowOf(ctx, id)).revision).toBe(2);
  });

  test('approve: each approval is kept', async () => {
    const admin = await testContext({ services: ctx, role: 'admin' });
    const rules = { stepsPerSecond: 100, inFlight: 2_000, freezes: [], availabilitySetTag: 'set' };
    await setRolloutRules(admin, { ...rules, approval: { fromMembers: 1, people: 3, role: 'operator' } });
    const { id } = await givenRollout(ctx, { state: 'planned' });
    expect(await together((as) => approveRollout(as, { id, plan: planHash }))).toEqual(all('done'));
    const { approvals, approvalsNeeded } = await getRollout(ctx, { id });
    expect([approvals.map((one) => one.by).toSorted(), approvalsNeeded]).toEqual([people, 0]);
    expect(await activityOf(ctx, id)).toHaveLength(4);
    await setRolloutRules(admin, { ...rules, approval: null });
  });

  test('approve and reject: the rejection keeps the rollout from starting', async () => {
    const { id } = await givenRollout(ctx, { state: 'planned' });
    const acts = [
      approveRollout(by('ada'), { id, plan: planHash }),
      rejectRollout(by('bob'), { id, plan: planHash, reason: 'not now' }),
    ];
    expect(await Promise.all(acts.map(outcomeOf))).toEqual(['done', 'done']);
    expect(await outcomeOf(startRollout(ctx, { id, plan: planHash }))).toBe('conflict approval_missing');
  });

  test('approve the rings: each ring has its own approval', async () => {
    const rings = probeDefinition.rings.map((ring) => ({ ...ring, approval: true }));
    const { id } = await givenRollout(ctx, { state: 'running', definition: { rings } });
    const acts = [0, 1, 2].map((ring) => approveRollout(by(people[ring] ?? ''), { id, plan: planHash, ring }));
    await Promise.all(acts);
    const shown = (await getRollout(ctx, { id })).rings.map(({ approvedBy }) => approvedBy);
    expect(shown).toEqual(['ada', 'bob', 'eve']);
  });

  test('start and edit: either the edit or the start is rejected, and never do both succeed', async () => {
    for (let n = 0; n < 3; n += 1) {
      const { id, definition } = await givenRollout(ctx, { state: 'planned' });
      const acts = [
        startRollout(by('ada'), { id, plan: planHash }),
        updateRollout(by('bob'), { id, revision: 1, definition: { ...definition, name: 'other' } }),
      ];
      const outcomes = await Promise.all(acts.map(outcomeOf));
      const { state } = await rowOf(ctx, id);
      const isStarted = state === 'checking';
      expect(outcomes).toEqual(isStarted ? ['done', 'conflict rollout_state'] : [expect.any(String), 'done']);
      if (!isStarted) expect([state, outcomes[0]]).toEqual(['draft', 'conflict rollout_state']);
    }
  });

  test('pause, resume and abort: the rollout ends as aborting, whatever came first', async () => {
    for (let n = 0; n < 3; n += 1) {
      const { id } = await givenRollout(ctx, { state: 'running' });
      const acts = [pauseRollout(by('ada'), { id }), resumeRollout(by('bob'), { id }), abortRollout(by('eve'), { id })];
      const outcomes = await Promise.all(acts.map(outcomeOf));
      expect(outcomes[2]).toBe('done');
      for (const outcome of outcomes) expect(['done', 'conflict rollout_state']).toContain(outcome);
      expect(await rowOf(ctx, id)).toMatchObject({ state: 'aborting', pausedBy: null, why: [] });
    }
  });

  test('delete and start: the rollout is gone or started', async () => {
    const { id } = await givenRollout(ctx, { state: 'planned' });
    const acts = [removeRollout(by('ada'), { id }), startRollout(by('bob'), { id, plan: planHash })];
    const outcomes = await Promise.all(acts.map(outcomeOf));
    const [left] = await ctx.db.select().from(rollouts).where(eq(rollouts.id, id));
    expect(outcomes).toEqual(left ? ['conflict rollout_state', 'done'] : ['done', 'not_found rollout_unknown']);
  });

  test('secrets: two edits at the same time leave the secrets of one of them, whole', async () => {
    const change = { ...probeDefinition.change, protectedSettings: { password: 'old' } };
    const { id, definition } = await givenRollout(ctx, { definition: { change } });
    const outcomes = await together((as, name) =>
      updateRollout(as, {
        ...{ id, revision: 1 },
        definition: { ...definition, change: { ...change, protectedSettings: { password: name } } },
      }),
    );
    const row = await rowOf(ctx, id);
    expect(openGiven(ctx, row)).toEqual({ password: people[outcomes.indexOf('done')] });
    expect([row.revision, row.setBy]).toEqual([2, `user:${people[outcomes.indexOf('done')]}`]);
  });
});

describe('a decision about a rollout in another state', () => {
  const starts = ['planned', 'paused'];
  const opens = ['scheduled', 'running', 'paused'];

  test.each(rolloutStates)('is rejected, and changes nothing: %s', async (state) => {
    const { id } = await givenRollout(ctx, { state });
    const before = await rowOf(ctx, id);
    const isDone = (states: string[]) => (states.includes(state) ? 'done' : 'conflict rollout_state');
    const plan = before.planHash ?? planHash;
    expect(await outcomeOf(approveRollout(by('ada'), { id, plan }))).toBe(isDone(starts));
    expect(await outcomeOf(rejectRollout(by('bob'), { id, plan, reason: 'no' }))).toBe(isDone(starts));
    expect(await outcomeOf(approveRollout(by('ada'), { id, plan, ring: 1 }))).toBe(isDone(opens));
    const after = await rowOf(ctx, id);
    expect(after.state).toBe(state);
    if (!starts.includes(state) && !opens.includes(state)) expect(after).toEqual(before);
  });

  test('says in which state the rollout is', async () => {
    const { id } = await givenRollout(ctx, { state: 'aborted' });
    await expect(pauseRollout(ctx, { id })).rejects.toMatchObject({ params: { state: 'aborted' } });
    await expect(approveRollout(by('ada'), { id, plan: planHash })).rejects.toMatchObject({
      params: { state: 'aborted' },
    });
  });

  test('of an unknown rollout is not found', async () => {
    const id = '00000000-0000-4000-8000-000000000000';
    const definition = probeDefinition;
    const acts: Promise<unknown>[] = [
      ...[pauseRollout, resumeRollout, abortRollout, closeRollout, unscheduleRollout].map((act) => act(ctx, { id })),
      ...[requestPlan, removeRollout].map((act) => act(ctx, { id })),
      updateRollout(ctx, { id, revision: 1, definition }),
      startRollout(ctx, { id, plan: planHash }),
      advanceRollout(ctx, { id, ring: 0, reason: 'x' }),
      approveRollout(ctx, { id, plan: planHash }),
      rejectRollout(ctx, { id, plan: planHash, reason: 'x' }),
    ];
    expect(await Promise.all(acts.map(outcomeOf))).toEqual(acts.map(() => 'not_found rollout_unknown'));
  });

  test('needs an operator', async () => {
    const viewer = await testContext({ services: ctx, role: 'viewer' });
    const { id } = await givenRollout(ctx, { state: 'running' });
    const acts: Promise<unknown>[] = [
      ...[pauseRollout, resumeRollout, abortRollout, closeRollout, unscheduleRollout].map((act) => act(viewer, { id })),
      ...[requestPlan, removeRollout].map((act) => act(viewer, { id })),
      updateRollout(viewer, { id, revision: 1, definition: probeDefinition }),
      startRollout(viewer, { id, plan: planHash }),
      advanceRollout(viewer, { id, ring: 0, reason: 'x' }),
      approveRollout(viewer, { id, plan: planHash }),
      rejectRollout(viewer, { id, plan: planHash, reason: 'x' }),
    ];
    expect(await Promise.all(acts.map(outcomeOf))).toEqual(acts.map(() => 'forbidden forbidden'));
    expect((await rowOf(ctx, id)).state).toBe('running');
  });
});
