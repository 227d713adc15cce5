/** Calls may overtake each other by this many; a number that was used before, or is older, comes from a copy. */
const width = 64;
/** Calls that may have been under way when the number was last written down. */
const tolerated = 8;

/** The call numbers of one machine seen lately: a machine that was copied repeats what its original already said. */
export class CallWindow {
  /** The highest number so far; null before the first call. */
  #highest: number | null = null;
  /** Which of the numbers `highest - 0` … `highest - 63` were used: the first 32, and the others. */
  #near = 0;
  #far = 0;

  /**
   * Takes a call's number. False where it was used before. `known` is the number last written down, from which a
   * process that has not met the machine goes on.
   */
  accept(counter: number, known: number): boolean {
    if (this.#highest === null) {
      if (counter <= Math.max(0, known - tolerated)) return false;
      this.#highest = counter;
      this.#near = 1;
      return true;
    }
    const ahead = counter - this.#highest;
    if (ahead > 0) {
      this.#shift(ahead);
      this.#highest = counter;
      this.#near |= 1;
      return true;
    }
    const back = -ahead;
    if (back >= width) return false;
    const bit = 1 << (back % 32);
    const used = back < 32 ? this.#near : this.#far;
    if ((used & bit) !== 0) return false;
    if (back < 32) this.#near |= bit;
    else this.#far |= bit;
    return true;
  }

  #shift(by: number): void {
    if (by >= width) {
      this.#near = 0;
      this.#far = 0;
    } else if (by >= 32) {
      this.#far = by === 32 ? this.#near : this.#near << (by - 32);
      this.#near = 0;
    } else {
      this.#far = (this.#far << by) | (this.#near >>> (32 - by));
      this.#near <<= by;
    }
  }
}
