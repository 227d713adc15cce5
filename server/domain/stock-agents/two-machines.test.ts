import { describe, expect, test } from 'vitest';
import type { AgentSighting } from '#db/schema/index.ts';
import { areTwoMachines, withSighting } from './two-machines.ts';

const begin = Date.parse('2026-01-01T00:00:00Z');
const at = (seconds: number) => new Date(begin + seconds * 1_000);

/** Adds each mark with `withSighting` at its number of seconds after `begin`. Returns the sightings. */
function seen(kind: AgentSighting['kind'], marks: [seconds: number, mark: string][]): AgentSighting[] {
  return marks.reduce<AgentSighting[]>(
    (sightings, [seconds, mark]) => withSighting(sightings, { kind, mark }, at(seconds)) ?? sightings,
    [],
  );
}
const day = 86_400;

describe('duplicate_agent: two machines with one token are detected when they alternate', () => {
  test.each<[string, AgentSighting['kind'], [number, string][], boolean]>([
    [
      'one machine',
      'forwarder',
      [
        [0, 'a'],
        [6, 'a'],
        [600, 'a'],
      ],
      false,
    ],
    [
      'one that restarts',
      'forwarder',
      [
        [0, 'a'],
        [60, 'b'],
        [120, 'c'],
        [180, 'd'],
      ],
      false,
    ],
    [
      'a late call of the forwarder before',
      'forwarder',
      [
        [0, 'a'],
        [60, 'b'],
        [61, 'a'],
        [62, 'b'],
        [90, 'b'],
      ],
      false,
    ],
    [
      'one that moves to another host and back',
      'forwarder',
      [
        [0, 'a'],
        [60, 'b'],
        [300, 'a'],
        [400, 'a'],
      ],
      false,
    ],
    [
      'moves that are far apart',
      'forwarder',
      [
        [0, 'a'],
        [60, 'b'],
        [700, 'a'],
        [1_400, 'b'],
      ],
      false,
    ],
    [
      'two that poll',
      'forwarder',
      [
        [0, 'a'],
        [3, 'b'],
        [12, 'a'],
        [15, 'b'],
        [27, 'a'],
        [40, 'b'],
      ],
      true,
    ],
    [
      'three that poll',
      'forwarder',
      [
        [0, 'a'],
        [12, 'b'],
        [24, 'c'],
        [36, 'a'],
        [48, 'b'],
        [60, 'c'],
      ],
      true,
    ],
    [
      'one agent that restarts',
      'transport',
      [
        [0, 'a'],
        [5, 'b'],
        [10, 'c'],
        [15, 'd'],
      ],
      false,
    ],
    [
      'two agents at each goal state',
      'transport',
      [
        [0, 'a'],
        [2, 'b'],
        [day, 'a'],
        [day + 2, 'b'],
      ],
      true,
    ],
    [
      'two agents, one of which restarts each time',
      'transport',
      [
        [0, 'a'],
        [2, 'b'],
        [day, 'a'],
        [day + 2, 'c'],
      ],
      false,
    ],
    [
      'two agents with a month between',
      'transport',
      [
        [0, 'a'],
        [2, 'b'],
        [30 * day, 'a'],
        [30 * day + 2, 'b'],
      ],
      false,
    ],
    [
      'a container that was replaced',
      'container',
      [
        [0, 'a'],
        [20, 'b'],
        [40, 'b'],
      ],
      false,
    ],
    [
      'two containers',
      'container',
      [
        [0, 'a'],
        [20, 'b'],
        [40, 'a'],
        [60, 'b'],
      ],
      true,
    ],
  ])('%s (%s)', (_, kind, marks, expected) => {
    expect(areTwoMachines(seen(kind, marks), kind, at(marks.at(-1)?.[0] ?? 0))).toBe(expected);
  });

  test('kinds count separately, and only a few alternations of each are stored', () => {
    const many = seen(
      'forwarder',
      Array.from({ length: 40 }, (_, index) => [index * 20, index % 2 ? 'a' : 'b']),
    );
    expect(many.length).toBeLessThanOrEqual(6);
    const mixed = withSighting(many, { kind: 'transport', mark: 'a' }, at(0)) ?? [];
    expect(mixed).toHaveLength(many.length + 1);
    expect(areTwoMachines(mixed, 'transport', at(0))).toBe(false);
  });
});
