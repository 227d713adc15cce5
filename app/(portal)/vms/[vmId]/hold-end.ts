/** Choices for the end of a hold: none, hours from now, or a set time. */
export const holdEnds = ['open', '1', '4', '24', 'at'] as const;
export type HoldEnd = (typeof holdEnds)[number];

const hourMs = 3_600_000;

/** The end that a person chose; `at` is a local time as in a field of the browser. Null for none. */
export function endOf(end: HoldEnd, at: string, now: Date): Date | null {
  if (end === 'open') return null;
  return end === 'at' ? new Date(at) : new Date(now.getTime() + Number(end) * hourMs);
}

/** A moment as a field of the browser takes it: local, to the minute. */
export function localTime(moment: Date): string {
  const shifted = new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}
