import type { Transaction } from '#db/client.ts';
import type { UnitRunEnd } from '#protocol/unit-runs.ts';
import type { Context } from '#server/domain/context.ts';

/** The parts of a context that a flush needs. */
export type Flushing = Pick<Context, 'db' | 'keys' | 'now'>;

/** How a run of a hook ended. */
export interface FlushInput {
  vmId: string;
  runId: string;
  outcome: 'succeeded' | 'failed' | 'timed-out' | 'interrupted' | 'refused';
  end: Pick<UnitRunEnd, 'exitCode' | 'signal' | 'seconds' | 'views' | 'reason' | 'changes'>;
}

/** What a flush did. `repeated`: the run had already ended, with the same versions. `unknown`: the VM has no such run. */
export interface Flushed {
  outcome: 'stored' | 'repeated' | 'unknown';
  unitId: string | null;
  hook: string | null;
  /** The new version of the unit's settings in each relation that changed. */
  versions: Record<string, number>;
  /** Relations that ended meanwhile. Their changes are left out. */
  dropped: number[];
  /** Services of which a relation ended with this run. */
  endedServices: string[];
}

/**
 * Ends a run and stores its changes of settings: one statement for any number of participants. Rejects with 422
 * `node_too_large` | `node_key_form`; the caller then stores the run as `refused` in another transaction.
 */
export function flush(_tx: Transaction, _ctx: Flushing, _input: FlushInput): Promise<Flushed> {
  throw new Error('flush has no tables');
}
