const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Time ranges of the axis, as they appear in the URL. */
export const ranges = ['30m', '6h', '24h', '7d'] as const;
export type Range = (typeof ranges)[number];

interface Span {
  /** How far back, in milliseconds. */
  past: number;
  /** From one line to the next. */
  grid: number;
  /** Requests begin at a multiple of this, so that a response can be reused for a while. */
  quantum: number;
}

export const spans: Readonly<Record<Range, Span>> = {
  '30m': { past: 30 * minute, grid: 5 * minute, quantum: 5 * minute },
  '6h': { past: 6 * hour, grid: hour, quantum: 30 * minute },
  '24h': { past: day, grid: 4 * hour, quantum: 2 * hour },
  '7d': { past: 7 * day, grid: day, quantum: 12 * hour },
};

/** The share of the axis after the present. */
export const futureShare = 0.15;

/** Start and end of the axis, in milliseconds since 1970. The present is at the same place in every range. */
export function domainOf(range: Range, now: number): { from: number; to: number } {
  const { past } = spans[range];
  return { from: now - past, to: now + (past * futureShare) / (1 - futureShare) };
}

/** The period to request, which covers the range until the next quantum begins. */
export function askedFor(range: Range, now: number): { from: number; to: number } {
  const { past, quantum } = spans[range];
  const from = Math.floor((now - past) / quantum) * quantum;
  return { from, to: from + past + quantum };
}

/** The moments of the lines: whole steps on the reader's clock. `offsetAt` is that clock minus UTC. */
export function gridOf(range: Range, from: number, to: number, offsetAt: (at: number) => number): number[] {
  const { grid } = spans[range];
  const lines: number[] = [];
  const first = Math.ceil((from + offsetAt(from)) / grid) * grid;
  for (let local = first; local - offsetAt(local - offsetAt(from)) <= to; local += grid) {
    // When clocks change, the offset at that moment counts.
    lines.push(local - offsetAt(local - offsetAt(from)));
  }
  return lines;
}

/** A zone's clock minus UTC at a moment, in milliseconds. */
export function zoneOffset(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-u-ca-gregory', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  return (at) => {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day: date = 1, hour: hours = 0, minute: minutes = 0 } = parts;
    return Date.UTC(year, month - 1, date, hours, minutes) - Math.floor(at / minute) * minute;
  };
}
