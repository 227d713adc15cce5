import type { LiveChange } from './topics.ts';

/** The state of the live connection, as shown on the page. */
export type LiveState =
  | { phase: 'connecting' }
  | { phase: 'live'; lastEventAt: number | undefined }
  /** `since`: when the page became stale; `retryAt`: when the next attempt starts, undefined while one is running. */
  | { phase: 'lost'; since: number; retryAt: number | undefined }
  /** Reconnected. `caughtUp`: the number of missed changes, undefined if everything was reloaded. */
  | { phase: 'back'; caughtUp: number | undefined }
  /** The session has ended, so the page makes no further attempts. */
  | { phase: 'signed-out'; since: number };

export interface Received {
  /** Position in the stream of changes at which to resume after a break. */
  id: string;
  /** Whether so much was missed that everything must be reloaded. */
  everything: boolean;
  changes: readonly LiveChange[];
}

export interface Source {
  open(
    lastEventId: string | undefined,
    on: { connected(): void; received(received: Received): void; failed(): void },
  ): { close(): void };
  /** Called after a failure, to find out whether the session has ended. */
  isSignedOut(): Promise<boolean>;
}

/**
 * How long hints are collected, in milliseconds, so that a burst causes only one load. Well below one second, because a
 * report must be visible within a second.
 */
const gatherMs = 200;
/**
 * For `settleMs` after a reconnect, hints count as missed changes. The notice about them is then shown for `noticeMs`.
 */
const settleMs = 800;
const noticeMs = 5000;
const firstRetryMs = 1000;
const longestRetryMs = 15_000;

/**
 * The live connection of a tab: opens it, detects breaks, retries with growing pauses, and resumes after the last
 * change that it received. Independent of React and tRPC.
 */
export class LiveConnection {
  private state: LiveState = { phase: 'connecting' };
  private readonly listeners = new Set<() => void>();
  private readonly source: Source;
  private readonly invalidate: (changes: readonly LiveChange[] | 'reset') => void;
  private connection: { close(): void } | undefined;
  private lastEventId: string | undefined;
  private fresh = Date.now();
  private failures = 0;
  /** The changes missed while disconnected, counted until `settleMs` after the reconnect. */
  private missed: { count: number; everything: boolean } | undefined;
  private gathered: LiveChange[] = [];
  private gatherTimer: ReturnType<typeof setTimeout> | undefined;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private settleTimer: ReturnType<typeof setTimeout> | undefined;

  /** `startAt` is the position of the first page's data in the stream. Without it, only new changes are received. */
  constructor(source: Source, invalidate: (changes: readonly LiveChange[] | 'reset') => void, startAt?: string) {
    this.source = source;
    this.invalidate = invalidate;
    this.lastEventId = startAt;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  getState = (): LiveState => this.state;

  /** Opens the connection. Returns a function that closes it and stops all timers. */
  start(): () => void {
    this.open();
    return () => {
      this.connection?.close();
      this.connection = undefined;
      for (const timer of [this.gatherTimer, this.retryTimer, this.settleTimer]) clearTimeout(timer);
    };
  }

  /** Starts the scheduled attempt now. Does nothing if none is scheduled. */
  retryNow = (): void => {
    if (this.state.phase !== 'lost' || this.state.retryAt === undefined) return;
    clearTimeout(this.retryTimer);
    this.set({ ...this.state, retryAt: undefined });
    this.open();
  };

  private open(): void {
    this.connection?.close();
    let over = false;
    this.connection = this.source.open(this.lastEventId, {
      connected: () => {
        if (!over) this.connected();
      },
      received: (received) => {
        if (!over) this.received(received);
      },
      failed: () => {
        if (over) return;
        over = true;
        this.failed();
      },
    });
  }

  private connected(): void {
    this.failures = 0;
    if (this.state.phase === 'lost') {
      // Without a position nothing can be resumed, so everything is reloaded.
      this.missed = { count: 0, everything: this.lastEventId === undefined };
      if (this.missed.everything) this.invalidate('reset');
      this.settleTimer = setTimeout(() => this.settled(), settleMs);
      return;
    }
    if (this.state.phase === 'connecting') this.set({ phase: 'live', lastEventAt: undefined });
  }

  private received({ id, everything, changes }: Received): void {
    this.lastEventId = id;
    this.fresh = Date.now();
    if (everything) {
      this.gathered = [];
      if (this.missed !== undefined) this.missed.everything = true;
      this.invalidate('reset');
    } else if (changes.length > 0) {
      this.gathered.push(...changes);
      if (this.missed !== undefined) this.missed.count += changes.length;
      this.gatherTimer ??= setTimeout(() => this.flush(), gatherMs);
    }
    if (this.state.phase === 'live') this.set({ phase: 'live', lastEventAt: this.fresh });
  }

  private flush(): void {
    this.gatherTimer = undefined;
    const changes = this.gathered;
    this.gathered = [];
    this.invalidate(changes);
  }

  private settled(): void {
    this.set({ phase: 'back', caughtUp: this.missed?.everything ? undefined : this.missed?.count });
    this.missed = undefined;
    this.settleTimer = setTimeout(() => this.set({ phase: 'live', lastEventAt: this.fresh }), noticeMs);
  }

  private failed(): void {
    this.connection?.close();
    this.connection = undefined;
    clearTimeout(this.settleTimer);
    this.missed = undefined;
    const since = this.state.phase === 'lost' ? this.state.since : Date.now();
    const pause = Math.min(longestRetryMs, firstRetryMs * 2 ** this.failures) * (0.8 + Math.random() * 0.4);
    this.failures += 1;
    this.set({ phase: 'lost', since, retryAt: Date.now() + pause });
    this.retryTimer = setTimeout(this.retryNow, pause);
    void this.source.isSignedOut().then((isOut) => {
      if (!isOut || this.state.phase !== 'lost') return;
      clearTimeout(this.retryTimer);
      this.set({ phase: 'signed-out', since });
    });
  }

  private set(state: LiveState): void {
    this.state = state;
    for (const listen of this.listeners) listen();
  }
}
