import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { rollouts } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { openStates } from '#server/domain/rollout-rules/words.ts';
import { testContext } from '#server/testing/context.ts';
import { changesSince, markOf, outcomeOf } from '#server/testing/records.ts';
import {
  abortRollout,
  getRollout,
  listRollouts,
  removeRollout,
  requestPlan,
  retryRollout,
  revertRollout,
  setRolloutRules,
  startRollout,
  updateRollout,
} from './index.ts';
import { activityOf, asPerson, givenRollout, planHash, probeDefinition, rowOf } from './testing/given-rollout.ts';

let ctx: Context;
beforeAll(async () => {
  ctx = await testContext({ role: 'operator' });
});

const toAbort = openStates.filter((state) => state !== 'checking' && state !== 'aborting');

describe('RO-31 the revert of an open rollout', () => {
  test.each(toAbort)('aborts it first: %s', async (state) => {
    const { id } = await givenRollout(ctx, { state, values: { why: [{ code: 'freeze' }], next: { code: 'rate' } } });
    const mark = await markOf(ctx.db);
    const revert = await revertRollout(asPerson(ctx, 'ada'), { id });
    const aborted = await getRollout(ctx, { id });
    expect(aborted).toMatchObject({ state: 'aborting', why: [], next: null, revertedBy: revert.id });
    expect(await activityOf(ctx, id)).toMatchObject([
      { action: 'rollout.abort', by: 'ada', details: { from: state, reason: null } },
      { action: 'rollout.revert', by: 'ada', details: { revert: revert.id, ring: null, only: null, start: false } },
    ]);
    const outcomes = await changesSince(ctx.db, mark);
    expect(outcomes).toEqual(expect.arrayContaining([`rollout ${id}`, `rollout ${revert.id}`]));
    for (const row of [await rowOf(ctx, id), await rowOf(ctx, revert.id)]) expect(row.dueAt).toEqual(ctx.now);
  });

  test('aborts it whatever part of it is reverted', async () => {
    for (const terms of [{ ring: 0 }, { only: 'failed' as const }, { ring: 2, only: 'failed' as const }]) {
      const { id } = await givenRollout(ctx, { state: 'running' });
      await revertRollout(ctx, { id, ...terms });
      expect((await getRollout(ctx, { id })).state).toBe('aborting');
    }
  });

  test('leaves one that has ended or is ending as it is', async () => {
    for (const state of ['aborting', 'aborted', 'finished'] as const) {
      const { id } = await givenRollout(ctx, { state });
      await revertRollout(ctx, { id });
      expect((await getRollout(ctx, { id })).state).toBe(state);
      expect((await activityOf(ctx, id)).map(({ action }) => action)).toEqual(['rollout.revert']);
    }
  });
});

describe('RO-31 a revert', () => {
  test.each<[string, object, object]>([
    ['of everything', {}, { include: {} }],
    ['of one ring', { ring: 1 }, { include: {}, ring: 1 }],
    ['of what failed', { only: 'failed' }, { include: { step: ['failed'] } }],
    ['of what failed in one ring', { ring: 0, only: 'failed' }, { include: { step: ['failed'] }, ring: 0 }],
  ])('%s selects exactly those steps', async (_, terms, select) => {
    const { id } = await givenRollout(ctx, { state: 'finished' });
    const revert = await revertRollout(ctx, { id, ...terms });
    const { include, ...rest } = select as { include: object };
    expect((await rowOf(ctx, revert.id)).definition.select).toEqual({ include: { rollout: id, ...include }, ...rest });
  });

  test('keeps the limits of the last ring, the rate and how it treats availability sets', async () => {
    const definition = {
      ...{ stepsPerSecond: 7, availabilitySets: 'ignore' as const, keepDays: 3, onHalt: 'revert' as const },
      gates: { inFlight: { count: 9 }, noProgressSeconds: 600 },
    };
    const { id } = await givenRollout(ctx, { state: 'finished', definition });
    const revert = await revertRollout(ctx, { id });
    expect(revert.rings.map(({ name, approval, bakeSeconds }) => [name, approval, bakeSeconds])).toEqual([
      ['all', false, 0],
    ]);
    expect(revert.definition).toMatchObject({
      ...{ stepsPerSecond: 7, availabilitySets: 'ignore', keepDays: 3, onHalt: 'pause', newcomers: 'ignore' },
      ...{ silent: 'wait', windows: [], startAt: null, maxMovedPercent: 100 },
      rings: [{ gates: { inFlight: { count: 9 }, soakSeconds: 0, errors: null, success: null, compare: null } }],
    });
  });

  test('is planned immediately, for the person who requested it, and contains no secrets', async () => {
    const change = { ...probeDefinition.change, protectedSettings: { password: 'hunter2' } };
    const { id } = await givenRollout(ctx, { state: 'finished', definition: { change } });
    const revert = await revertRollout(asPerson(ctx, 'ada'), { id, start: true });
    expect(revert).toMatchObject({ state: 'planning', createdBy: 'ada', startedBy: 'ada', startedAt: null, of: id });
    expect(revert.change).toMatchObject({ kind: 'revert', handler: null, version: null, settings: false });
    const row = await rowOf(ctx, revert.id);
    expect(row).toMatchObject({ sealed: null, handler: 'Acme.Lab.Probe', planning: 1, plannedBy: 'ada' });
    expect(row.authors).toEqual({ created: 'user:ada', edited: null, planned: 'user:ada' });
  });

  test('needs no approval to start, however many members it has', async () => {
    const approval = { fromMembers: 1, people: 1, role: 'operator' as const };
    const rules = { stepsPerSecond: 100, inFlight: 2_000, freezes: [], availabilitySetTag: 'set' };
    const admin = await testContext({ services: ctx, role: 'admin' });
    await setRolloutRules(admin, { ...rules, approval });
    const { id } = await givenRollout(ctx, { state: 'planned', values: { kind: 'revert', members: 1_000_000 } });
    expect(await getRollout(ctx, { id })).toMatchObject({ approvalsNeeded: 0, needsPerson: false });
    expect((await startRollout(ctx, { id, plan: planHash })).state).toBe('checking');
    await setRolloutRules(admin, { ...rules, approval: null });
  });

  test('can itself be reverted and repeated', async () => {
    const { id } = await givenRollout(ctx, { state: 'finished', values: { kind: 'revert' } });
    const again = await revertRollout(ctx, { id });
    expect(again).toMatchObject({ kind: 'revert', of: id });
    const made = await revertRollout(ctx, { id: (await givenRollout(ctx, { state: 'finished' })).id });
    await ctx.db.update(rollouts).set({ state: 'finished' }).where(eq(rollouts.id, made.id));
    const retry = await retryRollout(ctx, { id: made.id, of: 'failed' });
    const { revision, definition } = retry;
    const edited = updateRollout(ctx, { id: retry.id, revision, definition: { ...definition, name: 'again' } });
    expect(await outcomeOf(edited)).toBe('done');
  });
});

test('the name of a revert is cut between characters, and stays within the limit', async () => {
  for (const name of ['🙂'.repeat(200), `x${'🙂'.repeat(199)}`, 'ä'.repeat(200)]) {
    const { id } = await givenRollout(ctx, { state: 'finished', definition: { name } });
    const revert = await revertRollout(ctx, { id });
    expect([...revert.name].length).toBeLessThanOrEqual(200);
    expect([revert.name.isWellFormed(), revert.name.includes('\ufffd')]).toEqual([true, false]);
    expect((await getRollout(ctx, { id: revert.id })).name).toBe(revert.name);
    expect(revert.name.endsWith(' (revert)')).toBe(true);
  }
});

test('a deleted revert leaves the rollout as if it had not been requested', async () => {
  const { id } = await givenRollout(ctx, { state: 'finished' });
  const revert = await revertRollout(ctx, { id });
  const mark = await markOf(ctx.db);
  await removeRollout(ctx, { id: revert.id });
  expect((await getRollout(ctx, { id })).revertedBy).toBeNull();
  expect(await changesSince(ctx.db, mark)).toEqual(expect.arrayContaining([`rollout ${id}`, `rollout ${revert.id}`]));
  expect((await activityOf(ctx, revert.id)).map(({ action }) => action)).toEqual(['rollout.delete']);
});

test('two people who revert at the same time abort the rollout once', async () => {
  const { id } = await givenRollout(ctx, { state: 'running' });
  const reverts = await Promise.all([
    revertRollout(asPerson(ctx, 'ada'), { id }),
    revertRollout(asPerson(ctx, 'bob'), { id }),
    abortRollout(asPerson(ctx, 'eve'), { id }),
  ]);
  const actions = (await activityOf(ctx, id)).map(({ action }) => action);
  expect(actions.filter((action) => action === 'rollout.abort')).toHaveLength(1);
  const { state, revertedBy } = await getRollout(ctx, { id });
  expect([state, reverts.some((one) => one.id === revertedBy)]).toEqual(['aborting', true]);
  expect((await listRollouts(ctx, { of: id })).items.every(({ kind }) => kind === 'revert')).toBe(true);
});

test('a revert can be planned again, and is not planned twice at the same time', async () => {
  const { id } = await givenRollout(ctx, { state: 'finished' });
  const revert = await revertRollout(ctx, { id });
  expect(await requestPlan(ctx, { id: revert.id })).toEqual(revert);
  expect((await rowOf(ctx, revert.id)).planning).toBe(1);
});

test.each<[string, object, string]>([
  ['a ring that the rollout does not have', { ring: 3 }, 'unprocessable invalid; /ring field_too_big'],
  ['a ring that no rollout can have', { ring: 20 }, 'unprocessable invalid; /ring field_too_big'],
  ['what succeeded', { only: 'succeeded' }, 'unprocessable invalid; /only field_choice'],
  ['an unknown rollout', { id: '00000000-0000-4000-8000-000000000000' }, 'not_found rollout_unknown'],
])('a revert of %s is rejected, and nothing is aborted', async (_, terms, outcome) => {
  const { id } = await givenRollout(ctx, { state: 'running' });
  const before = await rowOf(ctx, id);
  expect(await outcomeOf(revertRollout(ctx, { id, ...terms }))).toBe(outcome);
  expect([await rowOf(ctx, id), await activityOf(ctx, id)]).toEqual([before, []]);
});
