import { createHash } from 'node:crypto';
import { type ExtensionHealth, healthLetters, rankOf } from '#server/domain/verdicts/index.ts';

/** Grouping of VMs: `none`, `handler`, or `tag:<name>`. */
export type GroupBy = 'none' | 'handler' | `tag:${string}`;

/** A group of VMs, sorted by name. */
export interface MapGroup {
  /**
   * The tag's value or the handler; null for VMs without the tag, for the combined group, and if VMs are not grouped.
   */
  key: string | null;
  /** Whether this group combines several smaller groups. */
  rest: boolean;
  count: number;
  failed: number;
  unresponsive: number;
  /**
   * One letter per VM: the first letter of its health, except `k` for unknown and `x` for disabled. A number after a
   * letter is the count of consecutive VMs with that letter: `h4f` is `hhhhf`.
   */
  cells: string;
}

/**
 * The health of every VM, for the overview map. `revision` identifies the positions of VMs, regardless of their health.
 */
export interface FleetMap {
  groupBy: GroupBy;
  revision: string;
  groups: MapGroup[];
}

/** The positions of VMs in a map, regardless of their health. */
export interface MapOrder {
  groupBy: GroupBy;
  revision: string;
  /** Ids of the whole fleet, sorted by name, 16 bytes each. */
  ids: Uint8Array;
  /** `places` contains the positions of the group's VMs in `ids`. */
  groups: { key: string | null; rest: boolean; places: Uint32Array }[];
}

/** VMs of a group as read from the database, sorted by name. */
export interface GroupRows {
  key: string | null;
  /**
   * For each VM, its position in the fleet (sorted by name) times 8, plus the index of its health in `healthLetters`.
   */
  cells: Uint32Array;
}

/**
 * Maximum number of groups. Beyond that, the smallest groups are combined, because a map with more groups would not be
 * legible.
 */
const maxGroups = 24;

/** Computes the positions of VMs, and the health of the VMs in each group. */
export function arrange(
  groupBy: GroupBy,
  rows: readonly GroupRows[],
  ids: Uint8Array,
): { order: MapOrder; healths: Uint8Array[] } {
  const kept = foldSmallest(rows.filter(({ cells }) => cells.length > 0));
  const hash = createHash('sha256').update(groupBy).update(ids);
  const groups = kept.map(({ key, rest, cells }) => {
    const places = cells.map((cell) => cell >>> 3);
    hash.update(JSON.stringify([key, rest, places.length])).update(new Uint8Array(places.buffer));
    return { key, rest, places };
  });
  const revision = hash.digest('base64url').slice(0, 22);
  return {
    order: { groupBy, revision, ids, groups },
    healths: kept.map(({ cells }) => Uint8Array.from(cells, (cell) => cell & 7)),
  };
}

/**
 * Returns the map for these positions and health values. `healths` contains indexes in `healthLetters`, group by group.
 */
export function drawMap({ groupBy, revision, groups }: MapOrder, healths: readonly Uint8Array[]): FleetMap {
  return {
    groupBy,
    revision,
    groups: groups.map(({ key, rest, places }, index): MapGroup => {
      const own = healths[index] ?? new Uint8Array();
      const counts = countOf(own);
      const of = (health: ExtensionHealth): number => counts[rankOf(health)] ?? 0;
      const [failed, unresponsive] = [of('failed'), of('unresponsive')];
      return { key, rest, count: places.length, failed, unresponsive, cells: packCells(own) };
    }),
  };
}

function countOf(healths: Uint8Array): Uint32Array {
  const counts = new Uint32Array(8);
  for (const health of healths) counts[health] = (counts[health] ?? 0) + 1;
  return counts;
}

/** Sorts groups by key, with the VMs without the tag last, and combines the smallest groups if there are too many. */
function foldSmallest(rows: readonly GroupRows[]): (GroupRows & { rest: boolean })[] {
  const bySize = rows.toSorted((a, b) => b.cells.length - a.cells.length || compareKeys(a.key, b.key));
  const few = bySize.length <= maxGroups;
  const kept = bySize.slice(0, few ? maxGroups : maxGroups - 1).map((row) => ({ ...row, rest: false }));
  kept.sort((a, b) => compareKeys(a.key, b.key));
  if (few) return kept;
  const small = bySize.slice(maxGroups - 1);
  const cells = new Uint32Array(small.reduce((sum, row) => sum + row.cells.length, 0));
  let at = 0;
  for (const row of small) {
    cells.set(row.cells, at);
    at += row.cells.length;
  }
  return [...kept, { key: null, rest: true, cells: worstByPlace(cells) }];
}

function compareKeys(a: string | null, b: string | null): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return a < b ? -1 : 1;
}

/** Sorts by position. If a VM has several cells, keeps the worst, which has the smallest number. */
export function worstByPlace(cells: Uint32Array): Uint32Array {
  cells.sort();
  return cells.filter((cell, index) => index === 0 || cell >>> 3 !== (cells[index - 1] ?? 0) >>> 3);
}

/** Encodes each run of equal values as a letter and the length of the run: `hhhhf` → `h4f`. */
export function packCells(values: Uint8Array, letters: string = healthLetters): string {
  let packed = '';
  for (let begin = 0, end = 0; begin < values.length; begin = end) {
    const value = values[begin] ?? 0;
    while (end < values.length && values[end] === value) end += 1;
    packed += letters[value];
    if (end - begin > 1) packed += end - begin;
  }
  return packed;
}

/** Returns the id of the VM at a position of a group; null if the group has no such position. */
export function idAt({ ids, groups }: MapOrder, group: number, index: number): string | null {
  const place = groups[group]?.places[index];
  if (place === undefined) return null;
  const hex = Buffer.from(ids.buffer, ids.byteOffset + place * 16, 16).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
