/** A ring of a saved strategy, and how far it reaches; neither a share nor a number for all that match its filter. */
export interface StrategyRing {
  name: string;
  percent: number | null;
  count: number | null;
}

/** Returns the rings of a strategy as the portal lists it. */
export function ringsOf(strategy: Readonly<Record<string, unknown>>): StrategyRing[] {
  const rings = strategy.rings as { name: string; upTo?: { percent?: number; count?: number } | null }[];
  return rings.map(({ name, upTo }) => ({ name, percent: upTo?.percent ?? null, count: upTo?.count ?? null }));
}
