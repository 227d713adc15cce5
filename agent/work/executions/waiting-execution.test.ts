import { expect, test } from 'vitest';
import { WaitingExecution } from './waiting-execution.ts';

const waiting = (turn: number, goal: number | null, rested: number | null) =>
  new WaitingExecution({ stamp: 1, turn }, goal, rested);

test.each<[string, WaitingExecution, number | null, boolean]>([
  ['there is no goal state', waiting(5, null, null), null, true],
  ['the goal state in force has not come to rest', waiting(5, 4, null), null, false],
  ['it has', waiting(5, 4, null), 4, true],
  ['an older one has', waiting(5, 4, 3), 3, false],
  ['a newer one has', waiting(5, 4, null), 9, true],
  ['n had come to rest before n+1 arrived', waiting(5, 6, 4), 4, true],
  ['there may have been another one between', waiting(7, 8, 4), 4, false],
  ['the newer one has come to rest then', waiting(7, 8, 4), 8, true],
])('MU-28 an execution may begin: %s', (_, execution, rested, mayBegin) => {
  expect(execution.mayBegin(rested)).toBe(mayBegin);
});

test('MU-28 an execution is overtaken by at most three goal states in a row', () => {
  const execution = waiting(5, 4, null);
  expect([1, 2, 3, 4, 5].map(() => execution.mayBeOvertaken(null))).toEqual([true, true, true, false, false]);
  expect(execution.mayBeOvertaken(8), 'it may begin').toBe(true);
});
