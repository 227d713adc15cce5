/**
 * Finds the positions of ids in a list of ids of 16 bytes each. A hash table with open addressing, which for a million
 * ids is much smaller than a `Map` of texts.
 */
export class IdTable {
  readonly #ids: Uint32Array;
  /** Each value is a position plus 1, or 0 if the slot is empty. The hash uses the last four bytes of the id. */
  readonly #places: Int32Array;

  constructor(ids: Uint8Array) {
    // A copy, because the bytes need not begin at a multiple of four.
    this.#ids = new Uint32Array(new Uint8Array(ids).buffer);
    const count = this.#ids.length / 4;
    this.#places = new Int32Array(2 ** Math.ceil(Math.log2(count * 2 + 2)));
    for (let place = 0; place < count; place += 1) this.#places[this.#slotOf(this.#ids, place)] = place + 1;
  }

  /** Returns the position of the id at `words[at * 4]`; -1 if the list does not contain it. */
  placeOf(words: Uint32Array, at: number): number {
    return (this.#places[this.#slotOf(words, at)] ?? 0) - 1;
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
}
