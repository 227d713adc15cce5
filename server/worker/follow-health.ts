import { setTimeout as delay } from 'node:timers/promises';
import { changesChannel } from '#server/domain/changes/index.ts';
import { foldHealth, markAged, soonSeconds } from '#server/domain/health/index.ts';
import { readUnitConcerns } from '#server/domain/services/index.ts';
import type { OpenServices } from '#server/process/services.ts';

/** Milliseconds between two passes, so that changes in quick succession share one pass. */
const pauseMs = 250;
/** Minimum milliseconds between scans for VMs whose health may have changed through time alone. */
const ageingMs = 1_000;
/**
 * After a scan, the worker rests for this multiple of the scan's duration, but no longer than `longestRestMs`, so that
 * changes do not appear late.
 */
const restPerPass = 19;
const longestRestMs = 5_000;
/**
 * Milliseconds between full scans. A full scan also finds the VMs whose health may change soon through time alone.
 * Until the next full scan, only these VMs are scanned.
 */
const surveyAfterMs = (soonSeconds - 13) * 1_000;
/** Milliseconds over which a full scan is spread. `hasty` applies if the last one found too many VMs to remember. */
const surveyMs = { calm: 8_000, hasty: 3_000 };
/** Milliseconds by which scans overlap, because another process may still commit a row for a time already scanned. */
const overlapMs = 1_000;
/** Maximum number of VMs per pass, so that shutdown does not wait until a large fleet has been evaluated. */
const most = 2_000;
/**
 * The share of a pass's duration that is CPU time on an idle machine; the rest is waiting for the database. A smaller
 * share means that other processes need the cores.
 */
const usualShare = 0.5;
/** After a slow pass, the worker rests for this multiple of the excess time, but no longer than `longestYieldMs`. */
const restPerDelay = 3;
const longestYieldMs = 2_000;

/**
 * Returns a function that, if a scan is due, marks the VMs whose health may have changed through time alone since the
 * last scan. The function returns whether it marked any VM, not counting full scans. The first scan after startup
 * covers all VMs, so that no VM is missed.
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
    // Another worker is scanning. Keeps the time of this worker's own last scan, in case this worker takes over.
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
 * Returns how many milliseconds to rest after a full pass, given its duration and computing time. On a busy machine,
 * reports arrive late, so VMs look unresponsive and must be evaluated too, which keeps the machine busy. Rests break
 * this cycle.
 */
export function yieldMs(tookMs: number, computedMs: number): number {
  const tooLong = Math.max(0, (usualShare * tookMs) / Math.max(1, computedMs) - 1);
  return Math.min(longestYieldMs, tooLong * tookMs * restPerDelay);
}

/**
 * Evaluates VMs soon after a change commits, or after their health may have changed through time alone, so that lists
 * show current health. Continues after a failure of the database. Several workers share the work. Returns a function
 * that stops the evaluation.
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
  /** Returns whether there are more VMs to evaluate. */
  const fold = async (): Promise<boolean> => {
    const [began, before] = [performance.now(), process.cpuUsage()];
    if ((await foldHealth(services, new Date(), { limit: most, readConcerns: readUnitConcerns })) < most) return false;
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

/** Whether a change affects a VM. Changes with topic `fleet` result from a pass, so they must not start another one. */
function isOfVm(payload: string): boolean {
  try {
    return (JSON.parse(payload) as { topic?: unknown }).topic === 'vm';
  } catch {
    return false;
  }
}
