import { expect, test } from 'vitest';
import type { FleetRow } from '#server/domain/views/index.ts';
import type { FleetMap } from './groups.ts';
import { healthIn, nextUnhealthyTile, stepTile, tilesOf } from './tiles.ts';
import type { MapStep } from './use-map-cursor.ts';

type Health = FleetRow['health'];

const row = (name: string, tags: Record<string, string>, extensions: [handler: string, health: Health][] = []) =>
  ({
    ...{ name, tags, health: extensions[0]?.[1] ?? 'healthy' },
    extensions: extensions.map(([handler, health]) => ({ name: handler, handler, health, waitsFor: null })),
  }) as unknown as FleetRow;

const rows = [
  row('a', { region: 'eu' }, [
    ['Acme.Mount', 'failed'],
    ['Acme.Probe', 'healthy'],
  ]),
  row('b', { region: 'ap' }, [['Acme.Probe', 'healthy']]),
  row('c', {}),
];

const map = (groupBy: FleetMap['groupBy'], groups: [key: string | null, rest?: boolean][]) =>
  ({ groupBy, groups: groups.map(([key, rest = false]) => ({ key, rest })) }) as unknown as FleetMap;

test.each<[string, FleetMap, string[]]>([
  ['no grouping', map('none', [[null]]), ['abc']],
  ['a tag, with the VMs without it', map('tag:region', [['ap'], ['eu'], [null]]), ['b', 'a', 'c']],
  ['a tag with its smaller groups', map('tag:region', [['eu'], [null], [null, true]]), ['a', 'c', 'b']],
  ['handlers, where a VM is in several groups', map('handler', [['Acme.Mount'], ['Acme.Probe']]), ['a', 'ab']],
])('the tiles of %s', (_, of, expected) => {
  expect(tilesOf(of, rows).map((group) => group.map(({ name }) => name).join(''))).toEqual(expected);
});

test('a tile in the group of a handler shows the worst health of that handler', () => {
  const [first] = rows as [FleetRow];
  expect([healthIn('handler', 'Acme.Probe', first), healthIn('handler', 'Acme.Mount', first)]).toEqual([
    'healthy',
    'failed',
  ]);
  expect(healthIn('none', null, first)).toBe('failed');
});

/** Two groups: the first has a line of three tiles and a line of two; the second has a single tile. */
const boxes = [
  { group: 0, left: 0, top: 0 },
  { group: 0, left: 100, top: 0 },
  { group: 0, left: 200, top: 0 },
  { group: 0, left: 0, top: 50 },
  { group: 0, left: 100, top: 50 },
  { group: 1, left: 0, top: 120 },
];

test.each<[number, MapStep, number]>([
  [0, 'right', 1],
  [2, 'right', 3],
  [5, 'right', 5],
  [0, 'left', 0],
  [2, 'down', 4],
  [3, 'down', 5],
  [5, 'down', 5],
  [4, 'up', 1],
  [1, 'up', 1],
  [2, 'last', 4],
  [4, 'first', 0],
  [1, 'nextGroup', 5],
  [5, 'nextGroup', 5],
  [5, 'previousGroup', 0],
])('from tile %s, the step %s leads to %s', (from, step, expected) => {
  expect(stepTile(boxes, from, step)).toBe(expected);
});

test.each<[number | null, 1 | -1, number | null]>([
  [null, 1, 1],
  [null, -1, 2],
  [1, 1, 2],
  [2, 1, 1],
  [1, -1, 2],
])('from tile %s in direction %s, the next unhealthy tile is %s', (from, direction, expected) => {
  const tiles = ['healthy', 'failed', 'degraded', 'healthy'].map((health) => ({
    row: { health } as FleetRow,
    group: 0,
  }));
  expect(nextUnhealthyTile(tiles, from, direction)).toBe(expected);
  expect(nextUnhealthyTile(tiles.slice(3), from, direction)).toBeNull();
});
