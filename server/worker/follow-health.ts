import { setTimeout as delay } from 'node:timers/promises';
import { changesChannel } from '#server/domain/changes/index.ts';
import { foldHealth, markAged, soonSeconds } from '#server/domain/health/index.ts';
import type { OpenServices } from '#server/process/services.ts';

/** Milliseconds between two passes: concurrent changes share one. */
const pauseMs = 250;
/** Milliseconds between scans for VMs that aged. */
const ageingMs = 1_000;
/**
 * A pass is followed by a rest in proportion to its time, up to this many milliseconds, so that changes do not show
 * late.
 */
const restPerPass = 19;
const longestRestMs = 5_000;
/** A scan of all VMs looks this far ahead; until the next one is complete, only the VMs that it expects are scanned. */
const surveyAfterMs = (soonSeconds - 13) * 1_000;
/** A scan is spread over this many milliseconds: if little ages soon, and if too much does to remember. */
const surveyMs = { calm: 8_000, hasty: 3_000 };
/** A commit of another process may contain a time that was just scanned. */
const overlapMs = 1_000;
/** VMs per pass, so that stopping does not wait for a whole large fleet. */
const most = 2_000;
/**
 * If the process computes for this share of a pass, the machine has time; the rest is waiting for the database. A
 * smaller share means that other processes want the cores.
 */
const usualShare = 0.5;
/** Others go first for this multiple of the excess time of a pass, up to this many milliseconds. */
const restPerDelay = 3;
const longestYieldMs = 2_000;

/**
 * Scans for VMs that aged since the last scan, when it is time. The first scan after a start covers everything, so that
 * nothing is missed. Returns whether there are VMs to evaluate.
 */
function createScan(services: OpenServices, signal: AbortSignal): () => Promise<boolean> {
  let since: Date | null = null;
  let survey: { at: Date; soon: string[] | null } | null = null;
  let isSurveying = false;
  let failed: { error: unknown } | null = null;
  const next = { scan: 0, survey: 0 };

  const rest = async (ms: number): Promise<void> => {
    signal.throwIfAborted();
    if (ms > 0) await delay(ms, undefined, { signal });
  };
  const lookAtAll = async (now: Date, overMs: number): Promise<void> => {
    const began = performance.now();
    const scanned = await markAged(services, { since: survey?.at ?? null, now, among: null }, { overMs, rest });
    next.survey = scanned?.soon ? began + surveyAfterMs : performance.now() + longestRestMs;
    // While another worker scans, this one remembers from when it would have to.
    if (scanned === null) return;
    survey = { at: new Date(now.getTime() - overlapMs), soon: scanned.soon };
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
    if (began < next.scan || survey.soon === null) return false;
    const scanned = await markAged(services, { since, now, among: survey.soon });
    since = new Date(now.getTime() - overlapMs);
    const ended = performance.now();
    next.scan = ended + Math.min(longestRestMs, Math.max(ageingMs, (ended - began) * restPerPass));
    return (scanned?.marked ?? 0) > 0;
  };
}

/**
 * Milliseconds to rest after a full pass, by its duration and computing time. When many VMs fall silent, there is much
 * to evaluate, but late reports make their VMs look silent too, and on a busy machine that would never end.
 */
export function yieldMs(tookMs: number, computedMs: number): number {
  const tooLong = Math.max(0, (usualShare * tookMs) / Math.max(1, computedMs) - 1);
  return Math.min(longestYieldMs, tooLong * tookMs * restPerDelay);
}

/**
 * Keeps the health that lists read up to date: soon after a change is committed, and soon after it aged. Survives the
 * loss of the database; any number of workers share the work. Returns a function that stops it.
 */
export function followHealth(services: OpenServices): () => Promise<void> {
  const { wakes, log } = services;
  const stopping = new AbortController();
  const { signal } = stopping;
  let notified = Promise.withResolvers<void>();
  const listening = wakes.listen([changesChannel], {
    heard: (_, payload) => isOfVm(payload) && notified.resolve(),
    lost: () => {},
    back: () => notified.resolve(),
  });

  const look = createScan(services, signal);
  /** Returns whether there is more. */
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
      notified = Promise.withResolvers<void>();
      try {
        const isFull = await fold();
        more = (await look()) || isFull;
        failures = 0;
      } catch (error) {
        failures += 1;
        more = false;
        if (failures === 1) log.warn({ err: error }, 'health is not up to date; retrying');
      }
      if (more) continue;
      await delay(failures > 0 ? ageingMs : pauseMs, undefined, { signal }).catch(() => {});
      const slept = new AbortController();
      await Promise.race([
        notified.promise,
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

/** Changes of topic `fleet` are the result of a pass, and no reason for another. */
function isOfVm(payload: string): boolean {
  try {
    return (JSON.parse(payload) as { topic?: unknown }).topic === 'vm';
  } catch {
    return false;
  }
}
