import { expect, test } from 'vitest';
import { type Candidate, type LaneBusy, nextWork, type WorkKind } from './next.ts';

type Named = Candidate & { name: string };

const of =
  (kind: WorkKind) =>
  (name: string, turn: number | null, more: Partial<Candidate> = {}): Named => ({
    name,
    kind,
    turn,
    isBegun: false,
    ...more,
  });
const extension = of('extension');
const execution = of('execution');
const hook = of('hook');
const begun = { isBegun: true };
const hour = 3_600_000;

test.each<[string, Named[], LaneBusy | null, string | null]>([
  ['nothing rests', [], null, null],
  ['one candidate runs', [extension('a', 4)], null, 'a'],
  ['the lowest turn goes first', [extension('a', 4), execution('b', 3), execution('c', 9)], null, 'b'],
  ['equal turns keep their order', [extension('a', 4), extension('b', 4)], null, 'a'],
  ['a hook without a turn comes after every turn', [hook('a', null), extension('b', 900)], null, 'b'],
  ['hooks without a turn run by clock', [hook('a', null, { clock: 7 }), hook('b', null, { clock: 2 })], null, 'b'],
  ['a hook with a turn takes it', [hook('a', 2), extension('b', 3)], null, 'a'],
  ['what was begun goes before lower turns', [extension('a', 1), execution('b', 8, begun)], null, 'b'],
  ['of two that were begun, the lower turn', [execution('a', 8, begun), extension('b', 5, begun)], null, 'b'],
  [
    'a kind keeps the lane below an hour',
    [extension('a', 1), execution('b', 8)],
    { kind: 'extension', ms: hour - 1 },
    'a',
  ],
  [
    'after an hour, another kind goes next',
    [extension('a', 1), execution('b', 8)],
    { kind: 'extension', ms: hour },
    'b',
  ],
  [
    'of other kinds, the lowest turn',
    [extension('a', 1), hook('b', 9), execution('c', 8)],
    { kind: 'extension', ms: hour },
    'c',
  ],
  ['after an hour alone, the same kind continues', [extension('a', 1)], { kind: 'extension', ms: 9 * hour }, 'a'],
  [
    'what was begun ends even after an hour',
    [extension('a', 1, begun), execution('b', 8)],
    { kind: 'extension', ms: hour },
    'a',
  ],
])('%s', (_, candidates, busy, expected) => {
  expect(nextWork(candidates, busy)?.name ?? null).toBe(expected);
});

test('EN-67 a relation that changes all the time delays a goal state by one hook at most', () => {
  const started: string[] = [];
  let running: Named | null = null;
  // Both sides of the relation always have news, and the goal state arrives while the fourth hook runs.
  for (let step = 0; step < 10; step += 1) {
    const changes = [hook(`a${step}`, null, { clock: 2 * step }), hook(`b${step}`, null, { clock: 2 * step + 1 })];
    const goalState = step >= 4 && !started.includes('goal state') ? [extension('goal state', 900)] : [];
    running = nextWork([...changes, ...goalState], { kind: 'hook', ms: step * 60_000 });
    started.push(running?.name ?? '');
  }
  expect(started.slice(0, 6)).toEqual(['a0', 'a1', 'a2', 'a3', 'goal state', 'a5']);
});
