import { setTimeout as delay } from 'node:timers/promises';
import { changesChannel } from '#server/domain/changes/index.ts';
import {
  abandonPlan,
  checkRollout,
  findUnplanned,
  type PlanServices,
  planRollout,
} from '#server/domain/rollouts/index.ts';
import { foreseen } from '#server/i18n/foreseen.ts';
import type { OpenServices } from '#server/process/services.ts';
import { openJobSession } from './job-session.ts';

/** Milliseconds to wait after a hint, so that changes in quick succession share one look. */
const pauseMs = 250;
/** Milliseconds until the next look while another worker plans a rollout, or after a failure of the database. */
const retryMs = 2_000;
/** Milliseconds until the next look without any hint. The worker that follows rollouts wakes the planner before. */
const longestMs = 24 * 60 * 60_000;
const session = { name: 'plan-rollouts', statementTimeoutSeconds: 120 };

/** A worker that plans rollouts. */
export interface RolloutPlanner {
  /** Makes the worker look for rollouts. Needed in case a hint was lost. */
  wake(): void;
  stop(): Promise<void>;
}

/**
 * Plans and checks rollouts soon after a request, one after the other. Several workers share the rollouts. A
 * worker that stops or is killed leaves its rollout as it was, and another worker plans it.
 */
export function planRollouts(services: OpenServices): RolloutPlanner {
  const stopping = new AbortController();
  const { signal } = stopping;
  const { db, close } = openJobSession(services, session);
  let notified = Promise.withResolvers<void>();
  const listening = services.wakes.listen([changesChannel], {
    heard: (_, payload) => isOfRollout(payload) && notified.resolve(),
    lost: () => {},
    back: () => notified.resolve(),
  });
  const follow = async (): Promise<void> => {
    for (let failures = 0; !signal.aborted; ) {
      notified = Promise.withResolvers();
      let waitMs: number | null = null;
      try {
        waitMs = await planAll({ ...services, db, signal });
        failures = 0;
      } catch (error) {
        failures += 1;
        waitMs = retryMs;
        if (failures === 1 && !signal.aborted) services.log.warn({ err: error }, 'rollouts are not planned; retrying');
      }
      if (waitMs !== 0) await sleep(waitMs, notified.promise, signal);
    }
  };
  const running = follow();
  const stop = async (): Promise<void> => {
    stopping.abort();
    await Promise.all([running, listening.close()]);
    await close();
  };
  return { wake: () => notified.resolve(), stop };
}

/**
 * Plans every rollout that waits for it. Returns the milliseconds after which to look again at the latest; null if only
 * a hint is a reason to look.
 */
async function planAll(services: PlanServices): Promise<number | null> {
  let waitMs: number | null = null;
  for (const { id, state } of await findUnplanned(services)) {
    services.signal?.throwIfAborted();
    const act = state === 'planning' ? planRollout : checkRollout;
    const outcome = await act(services, id).catch((error: unknown) => giveUp(services, id, error));
    if (outcome === 'busy') waitMs = waitMs === 0 ? 0 : retryMs;
    else if (outcome !== 'none') waitMs = 0;
  }
  return waitMs;
}

/** Ends a plan that failed unexpectedly, unless the worker stops or the database is unavailable. */
async function giveUp(services: PlanServices, id: string, error: unknown): Promise<'done'> {
  if (services.signal?.aborted || (foreseen(error)?.kind === 'unavailable' && !isTimeout(error))) throw error;
  services.log.error({ err: error, rollout: id }, 'a rollout could not be planned');
  await abandonPlan(services, id, new Date(), error);
  return 'done';
}

/** Whether a statement took too long. Another attempt would take as long. */
function isTimeout(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ((at as Error & { code?: unknown }).code === '57014') return true;
  }
  return false;
}

async function sleep(ms: number | null, notified: Promise<void>, signal: AbortSignal): Promise<void> {
  const slept = new AbortController();
  const either = AbortSignal.any([signal, slept.signal]);
  await Promise.race([notified, delay(ms ?? longestMs, undefined, { signal: either }).catch(() => {})]);
  slept.abort();
  await delay(pauseMs, undefined, { signal }).catch(() => {});
}

function isOfRollout(payload: string): boolean {
  try {
    return (JSON.parse(payload) as { topic?: unknown }).topic === 'rollout';
  } catch {
    return false;
  }
}
