import { setTimeout as delay } from 'node:timers/promises';
import { type Actor, hasRole } from '#server/domain/actor.ts';
import { type ChangeTopic, changesChannel } from '#server/domain/changes/index.ts';
import type { Limits } from '#server/platform/limits.ts';
import type { Wakes } from '#server/platform/wakes/index.ts';
import { type Change, createRing } from './ring.ts';
import { openStreams, type Streams } from './streams.ts';

/** Tells an open page what to reload. `everything` is true after a gap, or if too much has changed. */
export interface LiveMessage {
  /** Position of this message, from which a later connection can continue. */
  id: string;
  everything: boolean;
  changes: Change[];
}

export interface WatchOptions {
  /** The `id` of the last message that the page received. Without it, the watch starts with the next change. */
  lastId?: string | undefined;
  signal: AbortSignal;
  /**
   * Returns the current user. Called again every few seconds and after changes to members. If it returns null, the
   * watch ends.
   */
  actor(): Promise<Actor | null>;
}

/** Notifies open pages of this installation's changes as they are committed. */
export interface Live {
  /** Returns the position of the newest change. Data read afterwards includes all changes up to this position. */
  position(): string;
  watch(options: WatchOptions): AsyncGenerator<LiveMessage, void>;
  streams: Streams;
  close(): Promise<void>;
}

/** Maximum number of messages per second and page. */
const messagesPerSecond = 4;
/** Maximum number of changes in a message. If there are more, the page reloads everything. */
const maxChanges = 200;
/** Milliseconds after which a watch resolves its user again. */
const refreshWatcherMs = 5_000;

const topics: Readonly<Record<ChangeTopic, 'viewer' | 'admin'>> = {
  act: 'viewer',
  execution: 'viewer',
  runbook: 'viewer',
  rollout: 'viewer',
  model: 'viewer',
  relation: 'viewer',
  unit: 'viewer',
  vm: 'viewer',
  output: 'viewer',
  fleet: 'viewer',
  attention: 'viewer',
  handler: 'viewer',
  publisher: 'viewer',
  member: 'admin',
  invitation: 'admin',
  token: 'admin',
};

/** Starts to listen for changes. Called once per process; all watches share one subscription. */
export function openLive(wakes: Wakes, limits: Limits['streams'], ringSize = 8_192): Live {
  const ring = createRing(ringSize);
  const wakers = new Set<() => void>();
  const wake = (): void => {
    for (const waker of [...wakers]) waker();
  };
  const listening = wakes.listen([changesChannel], {
    heard(_, payload) {
      const change = readPayload(payload);
      if (change === null) return;
      ring.push(change);
      wake();
    },
    // Nothing is sent until the connection is back, so pages keep what they show.
    lost() {},
    back() {
      // The first connection also needs the reset, because a watch may have started before the connection was open.
      ring.push('reset');
      wake();
    },
  });
  const closing = new AbortController();

  async function* watch({ lastId, signal, actor }: WatchOptions): AsyncGenerator<LiveMessage, void> {
    const ended = AbortSignal.any([signal, closing.signal]);
    let position = lastId ?? ring.end();
    let who = await actor();
    let resolvedAt = performance.now();
    // Gives the page a position to continue from, even if nothing changes for a long time.
    if (who !== null && lastId === undefined) yield { id: position, everything: false, changes: [] };
    while (who !== null && !ended.aborted) {
      const entries = ring.since(position);
      position = ring.end();
      const arePeopleTouched = entries?.some((entry) => entry !== 'reset' && entry.topic === 'member') ?? true;
      if (arePeopleTouched || performance.now() - resolvedAt >= refreshWatcherMs) {
        who = await actor();
        resolvedAt = performance.now();
        if (who === null) return;
      }
      const message = toMessage(position, entries, who);
      if (message !== null) {
        yield message;
        await delay(1_000 / messagesPerSecond, undefined, { signal: ended }).catch(() => {});
      }
      if (position === ring.end()) await nextWake(wakers, ended, refreshWatcherMs);
    }
  }

  return {
    position: () => ring.end(),
    watch,
    streams: openStreams(limits),
    async close() {
      closing.abort();
      await listening.close();
    },
  };
}

function toMessage(id: string, entries: readonly (Change | 'reset')[] | null, who: Actor): LiveMessage | null {
  if (entries === null || entries.includes('reset')) return { id, everything: true, changes: [] };
  const seen = new Map<string, Change>();
  for (const entry of entries) {
    if (entry !== 'reset' && maySee(who, entry)) seen.set(`${entry.topic} ${entry.key}`, entry);
  }
  if (seen.size === 0) return null;
  if (seen.size > maxChanges) return { id, everything: true, changes: [] };
  return { id, everything: false, changes: [...seen.values()] };
}

/** Members also receive changes to their own account, because their role may have changed. */
function maySee(who: Actor, { topic, key }: Change): boolean {
  return hasRole(who, topics[topic]) || (topic === 'member' && key === who.id);
}

/** Waits until a change arrives, the watch ends, or `most` milliseconds have passed. */
function nextWake(wakers: Set<() => void>, ended: AbortSignal, most: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      wakers.delete(done);
      ended.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, most);
    wakers.add(done);
    ended.addEventListener('abort', done, { once: true });
    if (ended.aborted) done();
  });
}

function readPayload(payload: string): Change | null {
  try {
    const { topic, key } = JSON.parse(payload) as { topic?: unknown; key?: unknown };
    if (typeof topic !== 'string' || typeof key !== 'string' || !Object.hasOwn(topics, topic)) return null;
    return { topic: topic as ChangeTopic, key };
  } catch {
    return null;
  }
}
