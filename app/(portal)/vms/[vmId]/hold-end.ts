/** Choices for the end of a hold: no end, a number of hours from now, or a chosen time. */
export const holdEnds = ['open', '1', '4', '24', 'at'] as const;
export type HoldEnd = (typeof holdEnds)[number];

const hourMs = 3_600_000;

/** Returns the chosen end of a hold, or null if it has no end. `at` is a local time, as in a `datetime-local` input. */
export function endOf(end: HoldEnd, at: string, now: Date): Date | null {
  if (end === 'open') return null;
  return end === 'at' ? new Date(at) : new Date(now.getTime() + Number(end) * hourMs);
}
