import type { AgentObservation } from '#db/schema/index.ts';
import { hasChangedHealth, type ReportedObservation } from '#server/domain/stock-agents/index.ts';

/**
 * Lifetime of the cached observations in milliseconds. It is limited because other processes may receive requests from
 * the same agent.
 */
const freshMs = 900_000;
/**
 * Minimum time between two writes in milliseconds, because an observation may alternate between healthy and unhealthy.
 */
const quietMs = 60_000;
/** Maximum number of changed observations that wait to be stored. */
const maxWaiting = 8;

/** Caches a stock agent's stored observations, because the agent repeats them every minute. */
export class Observed {
  #kept: readonly AgentObservation[] = [];
  /** When the stored observations were last read, in milliseconds. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Observations that have changed but are not stored yet. */
  readonly #turned = new Map<string, ReportedObservation>();

  /** Adds observations. Returns the observations to store now; null if nothing is due. */
  hear(observed: readonly ReportedObservation[], now: Date): ReportedObservation[] | null {
    for (const each of observed) {
      if (!hasChangedHealth(this.#kept, each)) this.#turned.delete(each.name);
      else if (this.#turned.size < maxWaiting || this.#turned.has(each.name)) this.#turned.set(each.name, each);
    }
    const age = now.getTime() - this.#lookedAt;
    const isDue = age >= freshMs || (age >= quietMs && this.#turned.size > 0);
    return observed.length > 0 && isDue ? [...this.#turned.values(), ...observed] : null;
  }

  /** Updates the cache with what was stored. */
  keep(kept: readonly AgentObservation[], observed: readonly ReportedObservation[], now: Date): void {
    this.#kept = kept;
    this.#lookedAt = now.getTime();
    for (const each of observed) if (this.#turned.get(each.name) === each) this.#turned.delete(each.name);
  }
}
