import { setTimeout as delay } from 'node:timers/promises';
import { changesChannel } from '#server/domain/changes/index.ts';
import {
  findRolloutWork,
  hintRollouts,
  type PassServices,
  passRollout,
  type RolloutWork,
  startAutomatic,
} from '#server/domain/rollouts/index.ts';

/** Milliseconds between two looks, so that changes in quick succession share one. */
const pauseMs = 250;
/** The worker looks again after this many milliseconds, although nothing is due and nothing changed. */
const restMs = 60_000;
/** After a failure, the next look is after this many milliseconds. */
const retryMs = 1_000;
/** If more VMs changed, every open rollout is looked at. */
const maxHints = 1_000;

/** What changed since the last look. `vmIds` is null if too many VMs changed to name them. */
interface Hints {
  vmIds: Set<string> | null;
  /** Whether a version was published or withdrawn, so that automatic upgrades may be due. */
  versions: boolean;
}

const noHints = (): Hints => ({ vmIds: new Set(), versions: false });

export interface FollowOptions {
  /** For tests: replaces a minute. */
  restMs?: number;
  /** Called if a rollout waits for a plan. */
  wakePlanner?: () => void;
}

/**
 * Advances open rollouts: when one is due, and soon after a change of a rollout, a handler or a VM. Starts automatic
 * rollouts soon after a version is published. While no rollout is open, only changes of rollouts and handlers, and one
 * look a minute, cause a statement. Several workers share the work. Returns a function that stops it.
 */
export function followRollouts(services: PassServices, options: FollowOptions = {}): () => Promise<void> {
  const longestMs = options.restMs ?? restMs;
  const { wakes, log } = services;
  const stopping = new AbortController();
  const { signal } = stopping;
  let notified = Promise.withResolvers<void>();
  let hints: Hints = { ...noHints(), versions: true };
  let isOpen = false;
  let upgradesSoughtAt = 0;
  const listening = wakes.listen([changesChannel], {
    heard: (_, payload) => {
      const change = readChange(payload);
      if (change === null) return;
      const isOfVm = change.topic === 'vm' || change.topic === 'fleet';
      if (isOfVm && !isOpen) return;
      if (change.topic !== 'rollout') addHint(hints, change);
      notified.resolve();
    },
    lost: () => {},
    back: () => {
      hints = { vmIds: null, versions: true };
      notified.resolve();
    },
  });

  /** Finds what to do. At least once a minute, also versions that need an automatic rollout, which it starts. */
  const findWork = async (hasVersions: boolean): Promise<RolloutWork> => {
    const now = Date.now();
    const withUpgrades = hasVersions || now - upgradesSoughtAt >= longestMs;
    const work = await findRolloutWork(services, { withUpgrades });
    if (withUpgrades) upgradesSoughtAt = now;
    if (work.isUnplanned) options.wakePlanner?.();
    await startUpgrades(services, work);
    return work;
  };

  /** Moves every rollout that is due. Returns how many milliseconds to wait for the next one. */
  const look = async (): Promise<number> => {
    const heard = hints;
    hints = noHints();
    const vmIds = heard.vmIds === null ? null : [...heard.vmIds];
    if (isOpen && vmIds?.length !== 0) await hintRollouts(services, vmIds, new Date());
    for (let hasVersions = heard.versions; ; hasVersions = false) {
      const next = await findWork(hasVersions);
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
        hints = { vmIds: null, versions: true };
        if (failures === 1) log.warn({ err: error }, 'rollouts do not move; retrying');
      }
      await rest(waitMs, notified.promise, signal);
    }
  };
  const running = follow();
  return async () => {
    stopping.abort();
    await Promise.all([running, listening.close()]);
  };
}

/** Starts automatic rollouts. A version that cannot be rolled out does not keep other rollouts from moving. */
async function startUpgrades(services: PassServices, { upgrades }: RolloutWork): Promise<void> {
  for (const upgrade of upgrades) {
    await startAutomatic(services, upgrade, new Date()).catch((error: unknown) => {
      services.log.error({ err: error, ...upgrade }, 'an automatic upgrade could not be started; retrying in a minute');
    });
  }
}

/** Waits this long, or until a hint after a short pause. */
async function rest(ms: number, notified: Promise<void>, signal: AbortSignal): Promise<void> {
  await delay(Math.min(ms, pauseMs), undefined, { signal }).catch(() => {});
  const slept = new AbortController();
  const either = AbortSignal.any([signal, slept.signal]);
  await Promise.race([notified, delay(Math.max(0, ms - pauseMs), undefined, { signal: either }).catch(() => {})]);
  slept.abort();
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
  if (topic === 'handler') hints.versions = true;
  if (ofAll.includes(topic) || key === '*' || key === '' || (hints.vmIds?.size ?? 0) >= maxHints) hints.vmIds = null;
  else hints.vmIds?.add(key);
}
