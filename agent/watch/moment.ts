import { uptime } from 'node:os';
import { z } from 'zod';
import { readText } from '../folder/write-file.ts';

/** A point in time that survives somebody setting the clock: seconds since the machine started, and which start. */
export const moment = z.object({
  /** Milliseconds of the machine's clock. */
  clock: z.number(),
  boot: z.string(),
  uptime: z.number(),
});
export type Moment = z.infer<typeof moment>;

const boot = bootId();

export function momentNow(): Moment {
  return { clock: Date.now(), boot, uptime: uptime() };
}

/** Seconds since then, never negative. Only over a start of the machine its clock has to be believed. */
export function secondsSince(then: Moment): number {
  const now = momentNow();
  const seconds = then.boot === now.boot ? now.uptime - then.uptime : (now.clock - then.clock) / 1000;
  return Math.max(0, seconds);
}

function bootId(): string {
  try {
    return (readText('/proc/sys/kernel/random/boot_id') ?? '').trim();
  } catch {
    return '';
  }
}
