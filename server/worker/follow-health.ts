import { setTimeout as delay } from 'node:timers/promises';
import { changesChannel } from '#server/domain/changes/index.ts';
import { foldHealth, markAged, soonSeconds } from '#server/domain/health/index.ts';
import type { OpenServices } from '#server/process/services.ts';

/** Milliseconds between two looks for VMs that changed: many changes at once are one look. */
const pauseMs = 250;
/** Milliseconds after which to look for what became another by time alone. */
const ageingMs = 1_000;
/** A look is followed by so much of its own time, but not by so many milliseconds that it tells late. */
const restPerLook = 19;
const longestRestMs = 5_000;
/**
 * A look at all sees ahead, and is made anew so early that it can take its time: until the next one has come to its end,
 * only those VMs are looked at that it saw.
 */
const surveyMs = 10_000;
const aheadMs = (soonSeconds - 3) * 1_000;
/** What is committed by another process may say a moment that was looked at a moment ago. */
const overlapMs = 1_000;
/** VMs of one look, so that stopping does not wait for all of a large fleet. */
const most = 2_000;
/** How many derive side by side where there is more than one look takes: one computes while the database writes. */
const lanes = 2;

/**
 * Looks for what aged since the last look, when it is time. After a start everything that ever aged is looked at, so
 * that nothing which passed meanwhile is missed. Says whether there is something to derive.
 */
function createLook(services: OpenServices, signal: AbortSignal): () => Promise<boolean> {
  let since: Date | null = null;
  let survey: { at: Date; soon: string[] | null } | null = null;
  let surveying: Promise<unknown> | undefined;
  let failed: { error: unknown } | null = null;
  let next = 0;

  /** Looks at all, beside the looks at those that the last one saw. */
  const lookAtAll = async (now: Date, overMs: number): Promise<number> => {
    const looked = await markAged(services, { since: survey?.at ?? null, now, among: null }, { overMs, signal });
    // Where another worker looks, this one remembers from when on it would have to.
    if (looked !== null) survey = { at: new Date(now.getTime() - overlapMs), soon: looked.soon };
    return looked?.marked ?? 0;
  };

  return async () => {
    if (failed !== null) {
      const { error } = failed;
      failed = null;
      throw error;
    }
    const began = performance.now();
    if (began < next) return false;
    const now = new Date();
    const age = survey === null ? Number.POSITIVE_INFINITY : now.getTime() - survey.at.getTime();
    let marked = 0;
    if (age < aheadMs && survey !== null && survey.soon !== null) {
      if (age >= aheadMs - surveyMs) {
        surveying ??= lookAtAll(now, surveyMs - 2_000)
          .catch((error: unknown) => {
            if (!signal.aborted) failed = { error };
          })
          .finally(() => {
            surveying = undefined;
          });
      }
      marked = (await markAged(services, { since, now, among: survey.soon }))?.marked ?? 0;
    } else {
      await surveying;
      marked = await lookAtAll(now, 0);
    }
    since = new Date(now.getTime() - overlapMs);
    const ended = performance.now();
    next = ended + Math.min(longestRestMs, Math.max(ageingMs, (ended - began) * restPerLook));
    return marked > 0;
  };
}

/**
 * Keeps the health that lists read up to date: soon after a change is told, and soon after it aged. Survives
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

  const look = createLook(services, signal);
  const follow = async (): Promise<void> => {
    let more = false;
    for (let failures = 0; !signal.aborted; ) {
      told = Promise.withResolvers<void>();
      const fold = (): Promise<number> => foldHealth(services, new Date(), { limit: most });
      try {
        const taken: number[] = await Promise.all(Array.from({ length: more ? lanes : 1 }, fold));
        more = taken.includes(most);
        more = (await look()) || more;
        failures = 0;
      } catch (error) {
        failures += 1;
        more = false;
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
