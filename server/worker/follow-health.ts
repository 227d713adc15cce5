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
/**
 * This share of a look's time its process computes where the machine has time for it; otherwise it waits for the
 * database. Where it is less, others want the cores.
 */
const usualShare = 0.5;
/** So many times what a look took longer than it should have, and at most so many milliseconds, others go first. */
const restPerDelay = 3;
const longestYieldMs = 2_000;

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

  const rest = async (ms: number): Promise<void> => {
    signal.throwIfAborted();
    if (ms > 0) await delay(ms, undefined, { signal });
  };
  const lookAtAll = async (now: Date, overMs: number): Promise<void> => {
    const began = performance.now();
    const looked = await markAged(services, { since: survey?.at ?? null, now, among: null }, { overMs, rest });
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
 * For how many milliseconds to rest after a look that was full, took so long, and computed for so long. Where many fall
 * silent at once there is much to derive; but the reports that wait for it make their VMs silent too, and on a machine
 * that is full it would never end.
 */
export function yieldMs(tookMs: number, computedMs: number): number {
  const tooLong = Math.max(0, (usualShare * tookMs) / Math.max(1, computedMs) - 1);
  return Math.min(longestYieldMs, tooLong * tookMs * restPerDelay);
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
  /** Says whether there is more. */
  const fold = async (): Promise<boolean> => {
    const [began, before] = [performance.now(), process.cpuUsage()];
    if ((await foldHealth(services, new Date(), { limit: most })) < most) return false;
    const { user, system } = process.cpuUsage(before);
    const restMs = yieldMs(performance.now() - began, (user + system) / 1_000);
    if (restMs > 0) await delay(restMs, undefined, { signal }).catch(() => {});
    return true;
  };
  const follow = async (): Promise<void> => {
    let more = false;
    for (let failures = 0; !signal.aborted; ) {
      told = Promise.withResolvers<void>();
      try {
        const isFull = await fold();
        more = (await look()) || isFull;
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
