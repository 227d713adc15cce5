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
/** A look at all sees so far ahead that those VMs alone are looked at until the next one has come to its end. */
const surveyAfterMs = (soonSeconds - 13) * 1_000;
/** Over so many milliseconds it is spread: when little comes soon, and when so much does that nobody remembers it. */
const surveyMs = { calm: 8_000, hasty: 3_000 };
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
  let isSurveying = false;
  let failed: { error: unknown } | null = null;
  const next = { look: 0, survey: 0 };

  const lookAtAll = async (now: Date, overMs: number): Promise<void> => {
    const began = performance.now();
    const looked = await markAged(services, { since: survey?.at ?? null, now, among: null }, { overMs, signal });
    next.survey = looked?.soon ? began + surveyAfterMs : performance.now() + longestRestMs;
    // Where another worker looks, this one remembers from when on it would have to.
    if (looked === null) return;
    survey = { at: new Date(now.getTime() - overlapMs), soon: looked.soon };
    if (since === null || since > survey.at) since = survey.at;
  };

  return async () => {
    if (failed !== null) {
      const { error } = failed;
      failed = null;
      throw error;
    }
    const began = performance.now();
    const now = new Date();
    if (survey === null) {
      if (began >= next.survey) await lookAtAll(now, 0);
      return false;
    }
    if (began >= next.survey && !isSurveying) {
      isSurveying = true;
      void lookAtAll(now, survey.soon === null ? surveyMs.hasty : surveyMs.calm)
        .catch((error: unknown) => {
          if (!signal.aborted) failed = { error };
        })
        .finally(() => {
          isSurveying = false;
        });
    }
    if (began < next.look || survey.soon === null) return false;
    const looked = await markAged(services, { since, now, among: survey.soon });
    since = new Date(now.getTime() - overlapMs);
    const ended = performance.now();
    next.look = ended + Math.min(longestRestMs, Math.max(ageingMs, (ended - began) * restPerLook));
    return (looked?.marked ?? 0) > 0;
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
