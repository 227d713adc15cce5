import { totalmem } from 'node:os';

/** Returns the memory of the machine or the container, in bytes. */
export function usableMemory(): number {
  const allowed = process.constrainedMemory();
  return allowed > 0 ? Math.min(allowed, totalmem()) : totalmem();
}

/** Returns the value limited to the range from `least` to `most`. */
export const between = (least: number, value: number, most: number): number => Math.max(least, Math.min(most, value));
