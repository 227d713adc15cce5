import type { LiveChange } from './topics.ts';

/** What the reader is told about the live connection. */
export type LiveState =
  | { phase: 'connecting' }
  | { phase: 'live'; lastEventAt: number | undefined }
  /** `since`: until when the page is fresh; `retryAt`: when it is tried again, undefined while it is tried. */
  | { phase: 'lost'; since: number; retryAt: number | undefined }
  /** Just back. `caughtUp`: how many changes were missed, undefined when everything had to be read again. */
  | { phase: 'back'; caughtUp: number | undefined }
  /** The session has ended; nothing is tried any more. */
  | { phase: 'signed-out'; since: number };

export interface Received {
  /** Place in the row of changes, to go on from after a break. */
  id: string;
  /** Too much was missed: everything must be read again. */
  everything: boolean;
  changes: readonly LiveChange[];
}

export interface Source {
  open(
    lastEventId: string | undefined,
    on: { connected(): void; received(received: Received): void; failed(): void },
  ): { close(): void };
  /** Asked after a failure: whether it failed because nobody is signed in. */
  isSignedOut(): Promise<boolean>;
}

/** Gathers hints, so that a burst leads to one reading. Below the second in which a report must be on screen. */
const gatherMs = 200;
/** For how long after a return hints count as caught up, and the notice stands. */
const settleMs = 800;
const noticeMs = 5000;
const firstRetryMs = 1000;
const longestRetryMs = 15_000;

/**
 * One live connection per tab: opens it, notices that it broke, tries again with growing pauses, and goes on from
 * the last change that it saw. Knows nothing of React or tRPC.
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
  /** Counts what was missed, from the return until it has settled. */
  private missed: { count: number; everything: boolean } | undefined;
  private gathered: LiveChange[] = [];
  private gatherTimer: ReturnType<typeof setTimeout> | undefined;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private settleTimer: ReturnType<typeof setTimeout> | undefined;

  /** `startAt`: up to where the page that opens it is true; without it only what comes from now on is heard. */
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

  /** Opens the connection; the returned function ends it for good. */
  start(): () => void {
    this.open();
    return () => {
      this.connection?.close();
      this.connection = undefined;
      for (const timer of [this.gatherTimer, this.retryTimer, this.settleTimer]) clearTimeout(timer);
    };
  }

  /** Does not wait for the next try. Nothing while the connection stands. */
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
      // Without a place in the row nothing can be caught up: read everything again.
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
