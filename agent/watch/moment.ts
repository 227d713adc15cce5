import { uptime } from 'node:os';
import { z } from 'zod';
import { readText } from '../folder/write-file.ts';

/** Linux's identifier of the current boot. */
export const bootIdFile = '/proc/sys/kernel/random/boot_id';

/** A point in time that is independent of changes of the clock: seconds since boot, and which boot. */
export const moment = z.object({
  /** Milliseconds of the machine's clock. */
  clock: z.number(),
  boot: z.string(),
  uptime: z.number(),
});
export type BootMoment = z.infer<typeof moment>;

const boot = readBootId(bootIdFile);

export function momentNow(): BootMoment {
  return { clock: Date.now(), boot, uptime: uptime() };
}

/** Seconds since then, never negative. Across a boot it relies on the machine's clock. */
export function secondsSince(then: BootMoment): number {
  const now = momentNow();
  const seconds = then.boot === now.boot ? now.uptime - then.uptime : (now.clock - then.clock) / 1000;
  return Math.max(0, seconds);
}

/** Identifies the current boot; empty where the system provides nothing. */
export function readBootId(file: string): string {
  try {
    return (readText(file) ?? '').trim();
  } catch {
    return '';
  }
}
