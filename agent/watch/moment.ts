import { uptime } from 'node:os';
import { z } from 'zod';
import { readText } from '../folder/write-file.ts';

/** Where Linux says which start of the machine this is. */
export const bootIdFile = '/proc/sys/kernel/random/boot_id';

/** A point in time that survives somebody setting the clock: seconds since the machine started, and which start. */
export const moment = z.object({
  /** Milliseconds of the machine's clock. */
  clock: z.number(),
  boot: z.string(),
  uptime: z.number(),
});
export type Moment = z.infer<typeof moment>;

const boot = readBootId(bootIdFile);

export function momentNow(): Moment {
  return { clock: Date.now(), boot, uptime: uptime() };
}

/** Seconds since then, never negative. Only over a start of the machine its clock has to be believed. */
export function secondsSince(then: Moment): number {
  const now = momentNow();
  const seconds = then.boot === now.boot ? now.uptime - then.uptime : (now.clock - then.clock) / 1000;
  return Math.max(0, seconds);
}

/** Names this start of the machine; empty where nothing does. */
export function readBootId(file: string): string {
  try {
    return (readText(file) ?? '').trim();
  } catch {
    return '';
  }
}
