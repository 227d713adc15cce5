import { expect, test } from 'vitest';
import type { ShownRecentRun } from '../service-data.ts';
import { latestRuns } from './latest-runs.ts';

const run = (unit: string, hook: string, attempt: number, remoteUnit: string | null = null) =>
  ({ unit, hook, attempt, remoteUnit }) as ShownRecentRun;
const shown = (...runs: ShownRecentRun[]) =>
  latestRuns(runs).map(({ unit, hook, attempt }) => `${unit} ${hook} ${attempt}`);

test('only the last attempt of a hook is shown, also between runs of other units', () => {
  expect(
    shown(
      ...[run('a/0', 'start', 3), run('a/1', 'start', 2), run('a/0', 'start', 2), run('a/1', 'start', 1)],
      ...[run('a/0', 'start', 1), run('a/0', 'install', 1)],
    ),
  ).toEqual(['a/0 start 3', 'a/1 start 2', 'a/0 install 1']);
});

test('runs for another cause or another unit stay', () => {
  const runs = [run('a/0', 'start', 1), run('a/0', 'start', 2), run('a/0', 'start', 1), run('a/0', 'start', 1)];
  expect(shown(...runs)).toEqual(['a/0 start 1', 'a/0 start 2', 'a/0 start 1']);
  expect(shown(run('a/0', 'x', 2, 'b/0'), run('a/0', 'x', 1, 'b/1'))).toHaveLength(2);
});

test('ten runs are shown', () => {
  expect(shown(...Array.from({ length: 12 }, (_, number) => run(`a/${number}`, 'start', 1)))).toHaveLength(10);
});
