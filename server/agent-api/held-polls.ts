/** The connection to the agent. */
export interface OtherEnd {
  hasHungUp(): boolean;
  /** Calls back once if the agent disconnects. Returns a function that removes the listener. */
  onHangUp(listener: () => void): () => void;
}

/** Why a held poll woke up. */
export type Wake =
  /** The VM may have changed, so check again. */
  | 'look'
  /** A newer poll for the same VM replaced this one. */
  | 'superseded'
  /** The wait timed out, the agent disconnected, or all polls were released. */
  | 'over';

/** Polls waiting for a newer goal state, one per VM. */
export class HeldPolls {
  readonly #held = new Map<string, HeldPoll>();
  #isReleased = false;

  /** Number of polls that are currently held. */
  get size(): number {
    return this.#held.size;
  }

  /** Registers a poll for the VM and releases the previous one. `leave` removes the new poll. */
  enter(vmId: string): HeldPoll {
    this.#held.get(vmId)?.wake('superseded');
    const poll = new HeldPoll();
    this.#held.set(vmId, poll);
    if (this.#isReleased) poll.wake('over');
    return poll;
  }

  leave(vmId: string, poll: HeldPoll): void {
    if (this.#held.get(vmId) === poll) this.#held.delete(vmId);
  }

  /** Wakes the VM's poll, so that it checks again. */
  wake(vmId: string): void {
    this.#held.get(vmId)?.wake('look');
  }

  /** Releases all held polls. Later polls are not held. */
  release(): void {
    this.#isReleased = true;
    for (const poll of [...this.#held.values()]) poll.wake('over');
  }
}

/** A held poll. A wake-up between two waits is remembered, so that no wake-up is lost while the VM is being checked. */
export class HeldPoll {
  #kept: Wake | undefined;
  #waiting: ((wake: Wake) => void) | undefined;

  wake(why: Wake): void {
    if (this.#waiting) this.#waiting(why);
    else if (this.#kept === undefined || this.#kept === 'look') this.#kept = why;
  }

  /** Waits for a wake-up, the timeout, or the agent to disconnect. Returns why the wait ended. */
  next(ms: number, call: OtherEnd): Promise<Wake> {
    const why = call.hasHungUp() ? 'over' : this.#kept;
    this.#kept = undefined;
    if (why !== undefined) return Promise.resolve(why);
    return new Promise((resolve) => {
      const settle = (wake: Wake) => {
        this.#waiting = undefined;
        clearTimeout(timer);
        stop();
        resolve(wake);
      };
      const timer = setTimeout(settle, ms, 'over');
      const stop = call.onHangUp(() => settle('over'));
      this.#waiting = settle;
    });
  }
}
