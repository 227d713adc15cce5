import type { AgentObservation } from '#db/schema/index.ts';
import { hasChangedHealth, type ReportedObservation } from '#server/domain/stock-agents/index.ts';

/** What is written down is looked up again after so long: other processes hear the agent too. */
const freshMs = 900_000;
/** An observation that alternates is stored at most this often. */
const quietMs = 60_000;
/** Names that wait to be written down. */
const maxWaiting = 8;

/** What a stock agent looks after, as this process knows it to be written down: it says the same again every minute. */
export class Observed {
  #kept: readonly AgentObservation[] = [];
  /** In milliseconds. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** What turned and is not written down yet. */
  readonly #turned = new Map<string, ReportedObservation>();

  /** Takes in what it says, and returns what is to be written down now; null where nothing is. */
  hear(observed: readonly ReportedObservation[], now: Date): ReportedObservation[] | null {
    for (const each of observed) {
      if (!hasChangedHealth(this.#kept, each)) this.#turned.delete(each.name);
      else if (this.#turned.size < maxWaiting || this.#turned.has(each.name)) this.#turned.set(each.name, each);
    }
    const age = now.getTime() - this.#lookedAt;
    const isDue = age >= freshMs || (age >= quietMs && this.#turned.size > 0);
    return observed.length > 0 && isDue ? [...this.#turned.values(), ...observed] : null;
  }

  /** It is written down. */
  keep(kept: readonly AgentObservation[], observed: readonly ReportedObservation[], now: Date): void {
    this.#kept = kept;
    this.#lookedAt = now.getTime();
    for (const each of observed) if (this.#turned.get(each.name) === each) this.#turned.delete(each.name);
  }
}
