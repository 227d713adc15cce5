import { expect, test } from 'vitest';
import {
  decidedOf,
  emptyCounts,
  failedOf,
  moveCount,
  openPair,
  queuedOf,
  resolvedPairs,
  resolvePair,
  shownCounts,
} from './counts.ts';
import { memberCounts, pairResults, type StepState, stepStates } from './words.ts';

const moves = (...states: (StepState | null)[]) =>
  states.slice(1).reduce((counts, to, index) => moveCount(counts, states[index] ?? null, to), emptyCounts());

test('RO-22 the shown counts always add up to the members', () => {
  for (const state of stepStates) {
    const { members, ...shown } = shownCounts(5, [moves(null, state), emptyCounts()]);
    expect(memberCounts.reduce((sum, name) => sum + shown[name], 0)).toBe(members);
  }
});

test.each<[StepState, (typeof memberCounts)[number]]>([
  ['recalled', 'queued'],
  ['retrying', 'inFlight'],
  ['reverting', 'inFlight'],
  ['stuck', 'failed'],
  ['reverted', 'reverted'],
])('counts %s as %s', (state, shown) => {
  expect(shownCounts(1, [moves(null, state)])[shown]).toBe(1);
});

test.each<[(StepState | null)[], number]>([
  [[null, 'inFlight'], 0],
  [[null, 'inFlight', 'soaking'], 1],
  [[null, 'inFlight', 'soaking', 'succeeded'], 1],
  [[null, 'inFlight', 'soaking', 'inFlight'], 0],
  [[null, 'inFlight', 'soaking', 'inFlight', 'soaking', 'succeeded'], 1],
  [[null, 'inFlight', 'succeeded'], 1],
  [[null, 'inFlight', 'soaking', 'retrying', 'inFlight', 'soaking'], 1],
])('RO-11 a member that went through %j counts as seen healthy %i times', (states, healthy) => {
  expect(moves(...states).healthy).toBe(healthy);
});

test('RO-21 a step that is being reverted counts as failed', () => {
  const counts = moves(null, 'inFlight', 'reverting');
  expect([failedOf(counts), decidedOf(counts)]).toEqual([1, 1]);
});

test('a recalled member is queued again', () => {
  expect(queuedOf(3, moves(null, 'inFlight', 'recalled'))).toBe(3);
});

test('RO-24 every pair is open until it is resolved, and invalid pairs do not count', () => {
  let counts = pairResults.reduce((all) => openPair(all), emptyCounts());
  expect(counts).toMatchObject({ pairs: 5, pairsOpen: 5 });
  for (const result of pairResults) counts = resolvePair(counts, result);
  expect(counts).toMatchObject({ pairs: 5, pairsOpen: 0, changedFirst: 1, controlFirst: 1, pairsVoid: 1 });
  expect(resolvedPairs(counts)).toBe(4);
});
