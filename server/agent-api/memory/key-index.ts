const bitsOfDigit = 4;
const digitsPerWord = 8;
const zero = 48;
const nine = 57;
/** Subtracted from the character code of a hex digit `a` to `f`, gives the digit's value. */
const fromLetter = 87;
const lowerCase = 32;
const hyphen = 45;

/**
 * Maps keys to rows without an object per row. Keys are hexadecimal strings of one length (hashes, UUIDs), stored as
 * words next to a hash table of rows with open addressing and linear probing. A key's last word is its hash, so it
 * should be random.
 */
export class KeyIndex {
  readonly #width: number;
  readonly #keys: Uint32Array;
  readonly #table: Int32Array;
  readonly #mask: number;
  readonly #lookup: Uint32Array;

  /** Creates an index for rows 0 to `rows - 1`, with keys of `width` 32-bit words. */
  constructor(rows: number, width: number) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(2, rows * 2)));
    this.#width = width;
    this.#keys = new Uint32Array(rows * width);
    this.#table = new Int32Array(size);
    this.#mask = size - 1;
    this.#lookup = new Uint32Array(width);
  }

  /** Returns the row of the key; -1 if there is none. */
  find(key: string): number {
    this.#read(key);
    for (let place = this.#lastWord(this.#lookup, 0) & this.#mask; ; place = (place + 1) & this.#mask) {
      const row = (this.#table[place] ?? 0) - 1;
      if (row < 0 || this.#has(row)) return row;
    }
  }

  /** Assigns a key to a row. The row must not have a key yet, and no other row may have this key. */
  add(row: number, key: string): void {
    this.#read(key);
    this.#keys.set(this.#lookup, row * this.#width);
    let place = this.#home(row);
    while (this.#table[place] !== 0) place = (place + 1) & this.#mask;
    this.#table[place] = row + 1;
  }

  /** Removes a row's key, and moves displaced entries back. */
  remove(row: number): void {
    let hole = this.#home(row);
    while (this.#table[hole] !== row + 1) hole = (hole + 1) & this.#mask;
    for (let place = (hole + 1) & this.#mask; this.#table[place] !== 0; place = (place + 1) & this.#mask) {
      const moved = this.#table[place] ?? 0;
      if (((place - this.#home(moved - 1)) & this.#mask) < ((place - hole) & this.#mask)) continue;
      this.#table[hole] = moved;
      hole = place;
    }
    this.#table[hole] = 0;
  }

  #lastWord(words: Uint32Array, row: number): number {
    return words[(row + 1) * this.#width - 1] ?? 0;
  }

  #home(row: number): number {
    return this.#lastWord(this.#keys, row) & this.#mask;
  }

  #has(row: number): boolean {
    const start = row * this.#width;
    for (let word = 0; word < this.#width; word += 1) {
      if (this.#keys[start + word] !== this.#lookup[word]) return false;
    }
    return true;
  }

  #read(key: string): void {
    let word = 0;
    let digits = 0;
    for (let index = 0; index < key.length; index += 1) {
      const code = key.charCodeAt(index);
      if (code === hyphen) continue;
      word = (word << bitsOfDigit) | (code <= nine ? code - zero : (code | lowerCase) - fromLetter);
      digits += 1;
      if (digits % digitsPerWord === 0) this.#lookup[digits / digitsPerWord - 1] = word;
    }
  }
}
