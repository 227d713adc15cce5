import type { ExtensionHealth } from '#server/domain/verdicts/words.ts';
import type { FleetRow } from '#server/domain/views/index.ts';
import type { MapGrouping } from '../addresses.ts';
import type { FleetMap } from './groups.ts';
import type { MapStep } from './use-map-cursor.ts';

/** Below this number of VMs, the map shows a named tile for each VM. */
export const fewVms = 60;
/** The input of the query for the VMs of these tiles, worst first. */
export const tileRows = { sort: 'health', limit: fewVms } as const;

/**
 * Returns the VMs of each group of the map, worst first. A VM can be in several groups if the map is grouped by
 * handler.
 */
export function tilesOf({ groupBy, groups }: FleetMap, rows: readonly FleetRow[]): FleetRow[][] {
  const named = new Set(groups.flatMap(({ key }) => key ?? []));
  return groups.map(({ key, rest }) =>
    rows.filter((row) => {
      if (groupBy === 'none') return true;
      const keys = keysOf(groupBy, row);
      if (rest) return keys.some((one) => one !== null && !named.has(one));
      return keys.includes(key);
    }),
  );
}

function keysOf(groupBy: MapGrouping, { tags, extensions }: FleetRow): (string | null)[] {
  if (groupBy === 'handler') return extensions.map(({ handler }) => handler);
  return [tags[groupBy.slice('tag:'.length)] ?? null];
}

/**
 * The health that a tile shows: in the group of a handler, the worst health of the handler's extensions; otherwise, the
 * VM's health.
 */
export function healthIn(groupBy: MapGrouping, key: string | null, row: FleetRow): ExtensionHealth {
  if (groupBy !== 'handler' || key === null) return row.health;
  // The extensions are sorted, worst first.
  return row.extensions.find(({ handler }) => handler === key)?.health ?? row.health;
}

/** A VM in a group of the map. */
export interface TileVm {
  row: FleetRow;
  group: number;
}

/** The group of a tile, and its position in pixels. */
export interface TileBox {
  group: number;
  left: number;
  top: number;
}

/** Returns the index of the tile that a key leads to from the tile at `from`. */
export function stepTile(boxes: readonly TileBox[], from: number, step: MapStep): number {
  const here = boxes[from];
  if (here === undefined) return 0;
  const inGroup = (group: number) => boxes.flatMap((box, index) => (box.group === group ? [index] : []));
  const own = inGroup(here.group);
  const groups = [...new Set(boxes.map(({ group }) => group))];
  const place = groups.indexOf(here.group);
  switch (step) {
    case 'left':
      return Math.max(0, from - 1);
    case 'right':
      return Math.min(boxes.length - 1, from + 1);
    case 'first':
      return own[0] ?? from;
    case 'last':
      return own.at(-1) ?? from;
    case 'previousGroup':
      return inGroup(groups[Math.max(0, place - 1)] ?? here.group)[0] ?? from;
    case 'nextGroup':
      return inGroup(groups[Math.min(groups.length - 1, place + 1)] ?? here.group)[0] ?? from;
    case 'up':
    case 'down':
      return nearest(boxes, from, step === 'down' ? 1 : -1);
  }
}

/**
 * Finds the next line above or below the tile at `from`, and returns the index of the tile in that line whose column is
 * nearest.
 */
function nearest(boxes: readonly TileBox[], from: number, direction: 1 | -1): number {
  const here = boxes[from];
  if (here === undefined) return from;
  const beyond = boxes.flatMap((box, index) => ((box.top - here.top) * direction > 1 ? [{ ...box, index }] : []));
  const line = beyond.reduce((best, { top }) => Math.min(best, Math.abs(top - here.top)), Number.POSITIVE_INFINITY);
  const sorted = beyond
    .filter(({ top }) => Math.abs(Math.abs(top - here.top) - line) <= 1)
    .toSorted((a, b) => Math.abs(a.left - here.left) - Math.abs(b.left - here.left));
  return sorted[0]?.index ?? from;
}

/** Returns the next or previous tile whose VM is not healthy, continuing at the other end; null if there is none. */
export function nextUnhealthyTile(tiles: readonly TileVm[], from: number | null, direction: 1 | -1): number | null {
  let at = from ?? (direction === 1 ? -1 : 0);
  for (let left = tiles.length; left > 0; left -= 1) {
    at = (at + direction + tiles.length) % tiles.length;
    if (tiles[at]?.row.health !== 'healthy') return at;
  }
  return null;
}
