import { setTimeout as delay } from 'node:timers/promises';
import { changesChannel } from '#server/domain/changes/index.ts';
import { foldHealth } from '#server/domain/health/index.ts';
import type { OpenServices } from '#server/process/services.ts';

/** Milliseconds between two looks for VMs that changed: many changes at once are one look. */
const pauseMs = 250;
/** Milliseconds after which to look for what becomes another by time alone. */
const ageingMs = 1_000;
/** VMs of one look, so that stopping does not wait for all of a large fleet. */
const most = 2_000;

/**
 * Keeps the health that lists read up to date: soon after a change is told, and every second for what ages. Survives
 * the loss of the database; any number of workers share the work. Returns how to stop.
 */
export function followHealth(services: OpenServices): () => Promise<void> {
  const { wakes, log } = services;
  const stopping = new AbortController();
  const { signal } = stopping;
  let told = Promise.withResolvers<void>();
  const listening = wakes.listen([changesChannel], {
    heard: (_, payload) => isOfVm(payload) && told.resolve(),
    lost: () => {},
    back: () => told.resolve(),
  });

  const follow = async (): Promise<void> => {
    for (let failures = 0; !signal.aborted; ) {
      told = Promise.withResolvers<void>();
      let more = false;
      try {
        more = (await foldHealth(services, new Date(), { limit: most })) === most;
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures === 1) log.warn({ err: error }, 'health is not brought up to date; trying again');
      }
      if (more) continue;
      await delay(failures > 0 ? ageingMs : pauseMs, undefined, { signal }).catch(() => {});
      const slept = new AbortController();
      await Promise.race([
        told.promise,
        delay(ageingMs - pauseMs, undefined, { signal: AbortSignal.any([signal, slept.signal]) }).catch(() => {}),
      ]);
      slept.abort();
    }
  };
  const running = follow();
  return async () => {
    stopping.abort();
    await Promise.all([running, listening.close()]);
  };
}

/** The fleet's own changes come of a look; they are no reason for another. */
function isOfVm(payload: string): boolean {
  try {
    return (JSON.parse(payload) as { topic?: unknown }).topic === 'vm';
  } catch {
    return false;
  }
}
