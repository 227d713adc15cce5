import { arrange, drawMap, type FleetMap, type GroupBy, type GroupRows, type MapOrder } from './fleet-map.ts';
import { IdTable } from './id-table.ts';

/** Bytes per VM in the query result: its id, a fingerprint of its name and tags, and its rank. */
export const recordBytes = 16 + 4 + 2;

/** The cached map of a fleet. Changes are applied to it, so that 100,000 VMs need not be read again. */
export class FleetCopy {
  /** The copy includes every transaction with a lower id than this. */
  seen: string;
  readonly order: MapOrder;
  /**
   * Number of VMs according to the fleet counters. A different number in a later reading means that VMs were added or
   * removed.
   */
  readonly #count: number;
  readonly #ranks: Uint8Array;
  readonly #prints: Int32Array;
  readonly #table: IdTable;
  #map: FleetMap | null;

  /** `records`: the whole fleet, sorted by name. `keys`: the group of each VM, or null if there is only one group. */
  constructor(
    groupBy: GroupBy,
    { seen, count: counted }: { seen: string; count: number },
    records: Uint8Array,
    keys: readonly (string | null)[] | null,
  ) {
    const count = records.length / recordBytes;
    const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
    const ids = new Uint8Array(count * 16);
    this.seen = seen;
    this.#count = counted;
    this.#ranks = new Uint8Array(count);
    this.#prints = new Int32Array(count);
    for (let place = 0; place < count; place += 1) {
      const from = place * recordBytes;
      ids.set(records.subarray(from, from + 16), place * 16);
      this.#prints[place] = view.getInt32(from + 16);
      this.#ranks[place] = view.getInt16(from + 20);
    }
    this.#table = new IdTable(ids);
    const { order, healths } = arrange(groupBy, this.#groupRows(keys), ids);
    this.order = order;
    this.#map = drawMap(order, healths);
  }

  /** Returns the map with all changes so far. */
  map(): FleetMap {
    this.#map ??= drawMap(
      this.order,
      this.order.groups.map(({ places }) => Uint8Array.from(places, (place) => this.#ranks[place] ?? 0)),
    );
    return this.#map;
  }

  /**
   * Applies changed records of a fleet with `count` VMs. Returns false if VMs were added, removed, renamed or retagged.
   * In that case, positions have changed, so the fleet must be read again.
   */
  take(seen: string, records: Uint8Array, count: number): boolean {
    if (count !== this.#count) return false;
    const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
    const id = new Uint8Array(16);
    const words = new Uint32Array(id.buffer);
    for (let from = 0; from < records.length; from += recordBytes) {
      id.set(records.subarray(from, from + 16));
      const place = this.#table.placeOf(words, 0);
      if (place < 0 || this.#prints[place] !== view.getInt32(from + 16)) return false;
      const rank = view.getInt16(from + 20);
      if (this.#ranks[place] === rank) continue;
      this.#ranks[place] = rank;
      this.#map = null;
    }
    this.seen = seen;
    return true;
  }

  #groupRows(keys: readonly (string | null)[] | null): GroupRows[] {
    const cellsOf = new Map<string | null, number[]>();
    this.#ranks.forEach((rank, place) => {
      const key = keys?.[place] ?? null;
      const cells = cellsOf.get(key);
      if (cells === undefined) cellsOf.set(key, [place * 8 + rank]);
      else cells.push(place * 8 + rank);
    });
    return [...cellsOf].map(([key, cells]) => ({ key, cells: Uint32Array.from(cells) }));
  }
}
