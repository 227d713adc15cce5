/** Returns a generator of numbers from 0 to 1. The same seed gives the same numbers (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Derives a 32-bit number from a text (FNV-1a). */
export function numberFrom(word: string): number {
  let number = 0x811c9dc5;
  for (const byte of Buffer.from(word)) number = Math.imul(number ^ byte, 0x01000193) >>> 0;
  return number;
}

/**
 * Determines when each of many agents calls: once per period, at a random offset, so that arrivals are as uneven as
 * those of independent machines. Times are milliseconds since the start.
 */
export class Schedule {
  readonly #periodMs: number;
  readonly #agents: Uint32Array;
  readonly #moments: Float64Array;
  #cursor = 0;
  #roundStart = 0;
  /** Factor by which this round is longer than the period. */
  #stretch: number;

  /** `firstRound` is the factor by which the first round is longer than the period, because its calls cost more. */
  constructor(agents: Uint32Array, periodMs: number, random: () => number, { firstRound = 1 } = {}) {
    this.#periodMs = periodMs;
    this.#stretch = firstRound;
    this.#moments = Float64Array.from(agents, () => random() * periodMs).sort();
    this.#agents = shuffled(agents, random);
  }

  /** Time of the next call. */
  get nextAt(): number {
    return this.#roundStart + this.#stretch * (this.#moments[this.#cursor] ?? Number.POSITIVE_INFINITY);
  }

  /** Returns the next agent, and advances the schedule. */
  take(): number {
    const agent = this.#agents[this.#cursor] ?? 0;
    this.#cursor += 1;
    if (this.#cursor === this.#agents.length) {
      this.#cursor = 0;
      this.#roundStart += this.#stretch * this.#periodMs;
      this.#stretch = 1;
    }
    return agent;
  }
}

function shuffled(numbers: Uint32Array, random: () => number): Uint32Array {
  const result = numbers.slice();
  for (let index = result.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1));
    const kept = result[index] ?? 0;
    result[index] = result[other] ?? 0;
    result[other] = kept;
  }
  return result;
}
