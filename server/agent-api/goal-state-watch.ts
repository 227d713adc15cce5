import { credentialsChannel } from '#server/domain/enrollment/index.ts';
import { goalStatesChannel } from '#server/domain/goal-states/index.ts';
import type { Listening, Wakes } from '#server/platform/wakes/index.ts';

/** Why a held poll goes on. */
export type Wake =
  /** Something about this VM changed, or may have: look again. */
  | 'look'
  /** A newer poll of the same VM takes its place. */
  | 'superseded'
  /** The time was over, or the agent hung up. */
  | 'over';

/** A half-open connection says nothing: look by oneself every few seconds. */
const lookMs = 5_000;

/**
 * Wakes held polls when the database says that a VM's goal state or credential changed. When it may
 * have missed that, and every few seconds anyway, every held poll looks by itself.
 */
export class GoalStateWatch {
  readonly #held = new Map<string, (wake: Wake) => void>();
  readonly #sweep: NodeJS.Timeout;
  readonly #listening: Listening;

  constructor(wakes: Wakes) {
    this.#sweep = setInterval(() => this.#wakeAll('look'), lookMs);
    this.#sweep.unref();
    this.#listening = wakes.listen([goalStatesChannel, credentialsChannel], {
      heard: (_, vmId) => this.#held.get(vmId)?.('look'),
      lost: () => this.#wakeAll('look'),
      back: () => this.#wakeAll('look'),
    });
  }

  /** Polls that are held now. */
  get held(): number {
    return this.#held.size;
  }

  /**
   * Takes the VM's one place among the held polls. `next` waits for a wake; a wake that comes between two waits is
   * kept, so that nothing is missed between looking and waiting. `leave` frees the place.
   */
  enter(vmId: string): { next(ms: number, signal: AbortSignal): Promise<Wake>; leave(): void } {
    this.#held.get(vmId)?.('superseded');
    let kept: Wake | undefined;
    let waiting: ((wake: Wake) => void) | undefined;
    const wake = (why: Wake) => {
      if (waiting) waiting(why);
      else if (kept !== 'superseded') kept = why;
    };
    this.#held.set(vmId, wake);
    return {
      next: (ms, signal) => {
        if (kept) {
          const why = kept;
          kept = undefined;
          return Promise.resolve(why);
        }
        return new Promise((resolve) => {
          const settle = (why: Wake) => {
            waiting = undefined;
            clearTimeout(timer);
            signal.removeEventListener('abort', onAbort);
            resolve(why);
          };
          const onAbort = () => settle('over');
          const timer = setTimeout(() => settle('over'), ms);
          signal.addEventListener('abort', onAbort, { once: true });
          waiting = settle;
          if (signal.aborted) onAbort();
        });
      },
      leave: () => {
        if (this.#held.get(vmId) === wake) this.#held.delete(vmId);
      },
    };
  }

  /** Lets every held poll answer now. */
  release(): void {
    this.#wakeAll('over');
  }

  /** Ends the listening and lets every held poll answer. */
  async close(): Promise<void> {
    clearInterval(this.#sweep);
    this.release();
    await this.#listening.close();
  }

  #wakeAll(why: Wake): void {
    for (const wake of [...this.#held.values()]) wake(why);
  }
}
