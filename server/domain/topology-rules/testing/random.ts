/** Repeatable random choices for tests over random histories. */
export interface Random {
  below(limit: number): number;
  pick<T>(from: readonly T[]): T;
  chance(share: number): boolean;
}

/** Returns random choices that are the same for the same seed. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    chance: (share) => next() < share,
    pick: (from) => from[below(from.length)] as (typeof from)[number],
  };
}
