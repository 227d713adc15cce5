import { setTimeout as delay } from 'node:timers/promises';
import { changesChannel } from '#server/domain/changes/index.ts';
import { hintRollouts, nextRolloutAt, type PassServices, passRollout } from '#server/domain/rollouts/index.ts';

/** Milliseconds between two looks, so that changes in quick succession share one. */
const pauseMs = 250;
/** A rollout is looked at after this many milliseconds, although nothing is due. */
const longestMs = 60_000;
/** After a failure, the next look is after this many milliseconds. */
const retryMs = 1_000;
/** If more VMs changed, every open rollout is looked at. */
const maxHints = 1_000;

/** What changed since the last look. `vmIds` is null if too many VMs changed to name them. */
interface Hints {
  vmIds: Set<string> | null;
}

/**
 * Moves open rollouts on: when one is due, and soon after a change of a rollout, a handler or a VM. While no rollout is
 * open, only changes of rollouts, and one look a minute, cause a statement. Several workers share the work. Returns a
 * function that stops it.
 */
export function followRollouts(services: PassServices): () => Promise<void> {
  const { wakes, log } = services;
  const stopping = new AbortController();
  const { signal } = stopping;
  let notified = Promise.withResolvers<void>();
  let hints: Hints = { vmIds: new Set() };
  let isOpen = false;
  const listening = wakes.listen([changesChannel], {
    heard: (_, payload) => {
      const change = readChange(payload);
      if (change === null) return;
      if (change.topic !== 'rollout' && !isOpen) return;
      if (change.topic !== 'rollout') addHint(hints, change);
      notified.resolve();
    },
    lost: () => {},
    back: () => {
      hints.vmIds = null;
      notified.resolve();
    },
  });

  /** Moves every rollout that is due. Returns how many milliseconds to wait for the next one. */
  const look = async (): Promise<number> => {
    const heard = hints;
    hints = { vmIds: new Set() };
    const vmIds = heard.vmIds === null ? null : [...heard.vmIds];
    if (isOpen && vmIds?.length !== 0) await hintRollouts(services, vmIds, new Date());
    for (;;) {
      const next = await nextRolloutAt(services);
      isOpen = next.isOpen;
      const waitMs = next.at === null ? longestMs : next.at.getTime() - Date.now();
      if (waitMs > 0 || signal.aborted) return Math.min(longestMs, waitMs);
      // Another worker is moving the rollout that is due.
      if ((await passRollout(services, new Date())) === null) return pauseMs;
    }
  };
  const follow = async (): Promise<void> => {
    for (let failures = 0; !signal.aborted; ) {
      notified = Promise.withResolvers<void>();
      let waitMs = retryMs;
      try {
        waitMs = await look();
        failures = 0;
      } catch (error) {
        failures += 1;
        hints.vmIds = null;
        if (failures === 1) log.warn({ err: error }, 'rollouts do not move; retrying');
      }
      await delay(Math.min(waitMs, pauseMs), undefined, { signal }).catch(() => {});
      const slept = new AbortController();
      await Promise.race([
        notified.promise,
        delay(Math.max(0, waitMs - pauseMs), undefined, { signal: AbortSignal.any([signal, slept.signal]) }).catch(
          () => {},
        ),
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

/** Topics that can move a rollout. `fleet` is the stored health of a VM. */
const topics: readonly unknown[] = ['rollout', 'handler', 'runbook', 'vm', 'execution', 'fleet'];
/** A change of one of these can stop any rollout. */
const ofAll = ['handler', 'runbook'];

function readChange(payload: string): { topic: string; key: string } | null {
  try {
    const { topic, key } = JSON.parse(payload) as { topic?: unknown; key?: unknown };
    return topics.includes(topic) ? { topic: String(topic), key: String(key) } : null;
  } catch {
    return null;
  }
}

function addHint(hints: Hints, { topic, key }: { topic: string; key: string }): void {
  if (ofAll.includes(topic) || key === '*' || key === '' || (hints.vmIds?.size ?? 0) >= maxHints) hints.vmIds = null;
  else hints.vmIds?.add(key);
}
