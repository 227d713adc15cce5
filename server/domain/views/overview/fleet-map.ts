import { createHash } from 'node:crypto';

/** One letter per health, in the order of `vm_health.rank`; disabled extensions come last. */
export const healthLetters = 'fudpkhx';

/** How VMs are put together: `none`, `handler`, or `tag:<name>`. */
export type GroupBy = 'none' | 'handler' | `tag:${string}`;

/** VMs that belong together, by name. */
export interface MapGroup {
  /** The tag's value or the handler; null for VMs without, and where nothing groups. */
  key: string | null;
  /** More groups than are shown stand together in one. */
  rest: boolean;
  count: number;
  failed: number;
  unresponsive: number;
  /** Health by letter (failed, unresponsive, degraded, progressing, unknown `k`, healthy, disabled `x`), runs as letter and length. */
  cells: string;
}

/** The fleet as a picture draws it. `revision` names which VM stands where, whatever their health. */
export interface FleetMap {
  groupBy: GroupBy;
  revision: string;
  groups: MapGroup[];
}

/** Which VM is where in a map: 16 bytes of id for each, group by group. */
export interface MapOrder {
  groups: Uint8Array[];
}

/** VMs of a group as the database gives them, by name. */
export interface GroupRows {
  key: string | null;
  /** Place in the fleet by name, times 8, plus the place of its health in `healthLetters`. */
  cells: Uint32Array;
}

/** More groups than these say nothing to the eye: the smallest stand together. */
const mostGroups = 24;

/** Makes the map of these groups. `ids` are those of the whole fleet by name, 16 bytes each. */
export function makeFleetMap(
  groupBy: GroupBy,
  rows: readonly GroupRows[],
  ids: Uint8Array,
): FleetMap & { order: MapOrder } {
  const kept = foldSmallest(rows.filter(({ cells }) => cells.length > 0));
  const hash = createHash('sha256').update(groupBy);
  const order: MapOrder = { groups: [] };
  // Four words at a time: ids are copied by the hundred thousand.
  const words = new Uint32Array(Uint8Array.from(ids).buffer);
  const groups = kept.map(({ key, rest, cells }): MapGroup => {
    const own = new Uint32Array(cells.length * 4);
    const letters = new Uint8Array(cells.length);
    const counts = new Uint32Array(8);
    cells.forEach((cell, index) => {
      const from = (cell >>> 3) * 4;
      for (let word = 0; word < 4; word += 1) own[index * 4 + word] = words[from + word] ?? 0;
      const health = cell & 7;
      letters[index] = healthLetters.charCodeAt(health);
      counts[health] = (counts[health] ?? 0) + 1;
    });
    const bytes = new Uint8Array(own.buffer);
    hash.update(JSON.stringify([key, rest])).update(bytes);
    order.groups.push(bytes);
    const text = Buffer.from(letters.buffer).toString('latin1');
    const [failed = 0, unresponsive = 0] = counts;
    return { key, rest, count: cells.length, failed, unresponsive, cells: packCells(text) };
  });
  return { groupBy, revision: hash.digest('base64url').slice(0, 22), groups, order };
}

/** By name, VMs without the tag last; where there are too many groups the smallest become one. */
function foldSmallest(rows: readonly GroupRows[]): (GroupRows & { rest: boolean })[] {
  const bySize = rows.toSorted((a, b) => b.cells.length - a.cells.length || compareKeys(a.key, b.key));
  const few = bySize.length <= mostGroups;
  const kept = bySize.slice(0, few ? mostGroups : mostGroups - 1).map((row) => ({ ...row, rest: false }));
  kept.sort((a, b) => compareKeys(a.key, b.key));
  if (few) return kept;
  const small = bySize.slice(mostGroups - 1).flatMap(({ cells }) => [...cells]);
  return [...kept, { key: null, rest: true, cells: Uint32Array.from(new Set(small)).sort() }];
}

function compareKeys(a: string | null, b: string | null): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return a < b ? -1 : 1;
}

/** Runs of one letter as letter and length: `hhhhf` → `h4f`. */
export function packCells(cells: string): string {
  return cells.replace(/(.)\1+/g, (run) => `${run[0]}${run.length}`);
}

/** The id in a row of ids of 16 bytes; null beyond its end. */
export function idAt(ids: Uint8Array, index: number): string | null {
  if (index < 0 || (index + 1) * 16 > ids.length) return null;
  const hex = Buffer.from(ids.buffer, ids.byteOffset + index * 16, 16).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
