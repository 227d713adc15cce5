import { uptime } from 'node:os';
import { z } from 'zod';
import { readText } from '../folder/write-file.ts';

/** File with Linux's id of the current boot. */
export const bootIdFile = '/proc/sys/kernel/random/boot_id';

/** A point in time that clock changes do not affect within one boot: the boot's id, and the seconds since boot. */
export const moment = z.object({
  /** Unix time in milliseconds, by the machine's clock; used after a restart of the machine. */
  clock: z.number(),
  boot: z.string(),
  uptime: z.number(),
});
export type BootMoment = z.infer<typeof moment>;

const boot = readBootId(bootIdFile);
/** Minimum interval between two reads of the uptime, in milliseconds. Linux gives it in hundredths of a second. */
const uptimeMilliseconds = 5;
let lastUptime = { at: Number.NEGATIVE_INFINITY, seconds: 0 };

export function momentNow(): BootMoment {
  const at = performance.now();
  if (at - lastUptime.at >= uptimeMilliseconds) lastUptime = { at, seconds: uptime() };
  return { clock: Date.now(), boot, uptime: lastUptime.seconds };
}

/**
 * Returns the seconds since `then`, never negative. Across a restart of the machine, the result depends on the
 * machine's clock.
 */
export function secondsSince(then: BootMoment): number {
  const now = momentNow();
  const seconds = then.boot === now.boot ? now.uptime - then.uptime : (now.clock - then.clock) / 1000;
  return Math.max(0, seconds);
}

/** Returns the id of the current boot; empty if the system provides none. */
export function readBootId(file: string): string {
  try {
    return (readText(file) ?? '').trim();
  } catch {
    return '';
  }
}
