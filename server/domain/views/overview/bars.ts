/** Number of seconds that one bar covers. */
export const barSeconds = 150;
export const barCount = 24;

/**
 * Returns the start of the first bar, in milliseconds since 1970. Bars are aligned to the clock, so that they do not
 * shift.
 */
export function firstBar(now: Date): number {
  const width = barSeconds * 1000;
  return (Math.floor(now.getTime() / width) + 1 - barCount) * width;
}
