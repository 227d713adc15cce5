import { describe, expect, it } from 'vitest';
import { runRows } from './run-rows.ts';
import { type ShownRun, unitInAddress } from './unit-data.ts';

const run = (number: number, hook: string, attempt = 1, remoteUnit: string | null = null): ShownRun => ({
  ...{ id: `r${number}`, number, unit: 'blog/0', vmId: 'v', hook, relation: null, remoteUnit, version: null, attempt },
  ...{ formulaVersion: '1.0.0.0', outcome: 'failed', begunAt: '', endedAt: null, seconds: null, timeoutSeconds: 300 },
  ...{ exitCode: 1, signal: null, refused: null, reason: null, cause: null },
});
const shown = (runs: ShownRun[]) =>
  runRows(runs).map((row) => (row.kind === 'run' ? row.run.number : row.runs.map(({ number }) => number)));

describe('the rows of runs', () => {
  it.each<[string, ShownRun[], (number | number[])[]]>([
    ['without runs', [], []],
    ['of different hooks', [run(2, 'start'), run(1, 'install')], [2, 1]],
    ['with two attempts', [run(2, 'start', 2), run(1, 'start', 1)], [2, 1]],
    ['with three attempts', [run(3, 'start', 3), run(2, 'start', 2), run(1, 'start', 1)], [3, [2, 1]]],
    [
      'of which a newer cause began attempts again',
      [run(5, 'start', 2), run(4, 'start', 1), run(3, 'start', 3), run(2, 'start', 2), run(1, 'start', 1)],
      [5, 4, 3, [2, 1]],
    ],
    [
      'for different members',
      [run(3, 'db-relation-changed', 3, 'a/0'), run(2, 'db-relation-changed', 2, 'a/1')],
      [3, 2],
    ],
    [
      'with another hook between them',
      [run(4, 'start', 3), run(3, 'db-relation-joined'), run(2, 'start', 2), run(1, 'start', 1)],
      [4, 3, 2, 1],
    ],
  ])('%s', (_, runs, expected) => {
    expect(shown(runs)).toEqual(expected);
  });
});

describe('EN-2 the unit that an address names', () => {
  it.each([
    ['wordpress-1', 'wordpress/1'],
    ['my-blog-12', 'my-blog/12'],
    ['wordpress', null],
    ['wordpress-', null],
    ['-1', null],
    ['wordpress-01', null],
    ['wordpress-x', null],
    ['Blog-1', null],
    ['', null],
    ['blog/0', null],
  ])('%j names %j', (part, expected) => {
    expect(unitInAddress(part)).toBe(expected);
  });
});
