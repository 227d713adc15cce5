const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Time ranges of the axis, as they appear in the URL. */
export const ranges = ['30m', '6h', '24h', '7d'] as const;
export type Range = (typeof ranges)[number];

interface Span {
  /** How far back the axis reaches, in milliseconds. */
  past: number;
  /** Milliseconds between grid lines. */
  grid: number;
  /**
   * The requested period begins at a multiple of this many milliseconds, so that its response can be reused for a
   * while.
   */
  quantum: number;
}

export const spans: Readonly<Record<Range, Span>> = {
  '30m': { past: 30 * minute, grid: 5 * minute, quantum: 5 * minute },
  '6h': { past: 6 * hour, grid: hour, quantum: 30 * minute },
  '24h': { past: day, grid: 4 * hour, quantum: 2 * hour },
  '7d': { past: 7 * day, grid: day, quantum: 12 * hour },
};

/** The share of the axis to the right of the current time. */
export const futureShare = 0.15;

/**
 * Returns the start and the end of the axis in milliseconds since 1970. The current time has the same position in every
 * range.
 */
export function domainOf(range: Range, now: number): { from: number; to: number } {
  const { past } = spans[range];
  return { from: now - past, to: now + (past * futureShare) / (1 - futureShare) };
}

/** Returns the period to request, which covers the axis until the next quantum begins. */
export function periodToRequest(range: Range, now: number): { from: number; to: number } {
  const { past, quantum } = spans[range];
  const from = Math.floor((now - past) / quantum) * quantum;
  return { from, to: from + past + quantum };
}

/**
 * Returns the times of the grid lines: multiples of the grid step on the reader's clock. `offsetAt` returns the
 * difference between that clock and UTC.
 */
export function gridOf(range: Range, from: number, to: number, offsetAt: (at: number) => number): number[] {
  const { grid } = spans[range];
  const lines: number[] = [];
  const first = Math.ceil((from + offsetAt(from)) / grid) * grid;
  for (let local = first; local - offsetAt(local - offsetAt(from)) <= to; local += grid) {
    // The offset may change along the axis because of a clock change, so each line uses the offset at its own time.
    lines.push(local - offsetAt(local - offsetAt(from)));
  }
  return lines;
}
