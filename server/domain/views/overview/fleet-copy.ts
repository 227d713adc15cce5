import { arrange, drawMap, type FleetMap, type GroupBy, type GroupRows, type MapOrder } from './fleet-map.ts';

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
  readonly #ids: Uint32Array;
  /**
   * Hash table with open addressing. The hash uses the last four bytes of the id. Each value is a VM's position plus 1,
   * or 0 if the slot is empty.
   */
  readonly #places: Int32Array;
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
    this.#ids = new Uint32Array(ids.buffer);
    this.#ranks = new Uint8Array(count);
    this.#prints = new Int32Array(count);
    this.#places = new Int32Array(2 ** Math.ceil(Math.log2(count * 2 + 2)));
    for (let place = 0; place < count; place += 1) {
      const from = place * recordBytes;
      ids.set(records.subarray(from, from + 16), place * 16);
      this.#prints[place] = view.getInt32(from + 16);
      this.#ranks[place] = view.getInt16(from + 20);
      const slot = this.#slotOf(this.#ids, place);
      this.#places[slot] = place + 1;
    }
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
      const place = (this.#places[this.#slotOf(words, 0)] ?? 0) - 1;
      if (place < 0 || this.#prints[place] !== view.getInt32(from + 16)) return false;
      const rank = view.getInt16(from + 20);
      if (this.#ranks[place] === rank) continue;
      this.#ranks[place] = rank;
      this.#map = null;
    }
    this.seen = seen;
    return true;
  }

  /** Returns the slot that contains the id at `words[at * 4]`, or the free slot in which this id belongs. */
  #slotOf(words: Uint32Array, at: number): number {
    const last = this.#places.length - 1;
    const from = at * 4;
    let slot = Math.imul(words[from + 3] ?? 0, 0x9e3779b1) & last;
    for (; ; slot = (slot + 1) & last) {
      const known = ((this.#places[slot] ?? 0) - 1) * 4;
      if (known < 0) return slot;
      let word = 0;
      while (word < 4 && this.#ids[known + word] === words[from + word]) word += 1;
      if (word === 4) return slot;
    }
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
