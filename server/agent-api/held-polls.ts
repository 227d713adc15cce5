/** The agent at the other end. */
export interface OtherEnd {
  hasHungUp(): boolean;
  /** Calls back once when the agent hangs up; returns how to stop waiting for it. */
  onHangUp(listener: () => void): () => void;
}

/** Why a held poll goes on. */
export type Wake =
  /** Something about this VM changed, or may have: look again. */
  | 'look'
  /** A newer poll of the same VM takes its place. */
  | 'superseded'
  /** The time was over, or the agent hung up. */
  | 'over';

/** Polls that wait for a newer goal state, one per VM. */
export class HeldPolls {
  readonly #held = new Map<string, HeldPoll>();
  #isReleased = false;

  /** Polls that are held now. */
  get size(): number {
    return this.#held.size;
  }

  /** Takes the VM's one place; who had it is let go. `leave` frees the place. */
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

  /** Has the VM's poll look again. */
  wake(vmId: string): void {
    this.#held.get(vmId)?.wake('look');
  }

  /** Lets every held poll answer now, and holds none from now on. */
  release(): void {
    this.#isReleased = true;
    for (const poll of [...this.#held.values()]) poll.wake('over');
  }
}

/** One of them. A wake that comes between two waits is kept, so that nothing is missed between looking and waiting. */
export class HeldPoll {
  #kept: Wake | undefined;
  #waiting: ((wake: Wake) => void) | undefined;

  wake(why: Wake): void {
    if (this.#waiting) this.#waiting(why);
    else if (this.#kept === undefined || this.#kept === 'look') this.#kept = why;
  }

  /** Waits for a wake, for the end of the time, or for the agent to hang up. */
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
