import { setTimeout as delay } from 'node:timers/promises';
import type { Wakes } from './wakes.ts';

/** Milliseconds after which the condition is checked again although no notification arrived. */
const recheckMs = 2_000;

/** What to wait for. `concerns` says whether a message of the channel can change the result of `isMet`. */
export interface Awaited {
  channel: string;
  concerns(payload: string): boolean;
  isMet(): Promise<boolean>;
  /** Maximum seconds to wait. */
  seconds: number;
}

/** Waits until a condition is met, or until the time is over. */
export async function waitUntil(wakes: Wakes, { channel, concerns, isMet, seconds }: Awaited): Promise<void> {
  const until = performance.now() + seconds * 1_000;
  let notified = Promise.withResolvers<void>();
  const listening = wakes.listen([channel], {
    heard: (_, payload) => concerns(payload) && notified.resolve(),
    lost: () => {},
    back: () => notified.resolve(),
  });
  try {
    while (!(await isMet())) {
      const leftMs = until - performance.now();
      if (leftMs <= 0) return;
      const slept = new AbortController();
      const pause = delay(Math.min(recheckMs, leftMs), undefined, { signal: slept.signal }).catch(() => {});
      await Promise.race([notified.promise, pause]);
      slept.abort();
      notified = Promise.withResolvers<void>();
    }
  } finally {
    await listening.close();
  }
}
