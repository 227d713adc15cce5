import { totalmem } from 'node:os';

/** The machine's memory, or what a container leaves of it; bytes. */
export function usableMemory(): number {
  const allowed = process.constrainedMemory();
  return allowed > 0 ? Math.min(allowed, totalmem()) : totalmem();
}

/** The value, or the bound that it is beyond. */
export const between = (least: number, value: number, most: number): number => Math.max(least, Math.min(most, value));
