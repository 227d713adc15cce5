import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { runPrepared } from '#db/run-prepared.ts';
import { hookRuns } from '#db/schema/index.ts';
import type { UnitRunEnd } from '#protocol/unit-runs.ts';
import { changesChannel } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { RunResult } from '#server/domain/service-rules/stored.ts';
import type { RunOutcome } from '#server/domain/service-rules/words.ts';
import { tell, tellsByStatement } from '#server/platform/wakes/index.ts';
import { breakRelations } from './break-relations.ts';
import { flushStatement } from './flush-statement.ts';
import { requireKeys, requireSizes, storedReason } from './node-limits.ts';
import { sealSettings } from './sealed-node.ts';
import { tellUnits } from './wake.ts';

/** The parts of a context that a flush needs. */
export type Flushing = Pick<Context, 'keys' | 'now'>;

/** How a run of a hook ended. A run that did not succeed has no changes. */
export interface FlushInput {
  vmId: string;
  runId: string;
  unitId: string;
  outcome: Exclude<RunOutcome, 'running' | 'skipped'>;
  end: Pick<UnitRunEnd, 'exitCode' | 'signal' | 'seconds' | 'views' | 'reason' | 'changes'>;
  /** The code with which the portal rejected the changes, for a run that is stored as `refused`. */
  refused?: string;
}

/**
 * What a flush did. `repeated`: the run had already ended, as `was` says, and stored the same versions. `unknown`: the
 * unit has no such run on this VM, or was removed.
 */
export interface Flushed {
  outcome: 'stored' | 'repeated' | 'unknown';
  was: RunOutcome | null;
  /** The new version of the unit's settings in each relation that changed. */
  versions: RunResult['versions'];
  /** Relations that ended meanwhile. Their changes are not stored. */
  dropped: readonly number[];
  /** Services with a relation that ended with this run. */
  endedServices: string[];
}

interface FlushRow {
  hook: string;
  relationId: string | null;
  versions: RunResult['versions'];
  dropped: number[];
  sizes: { keys: number; bytes: number }[];
  relations: number[];
  changes: { topic: string; key: string }[];
}

/**
 * Ends a run and stores its changes of settings, with one statement for any number of participants. Also confirms what
 * a hook of a relation confirms. Throws 422 `node_too_large` | `node_key_form`; the caller then stores the run as
 * `refused` in another transaction.
 */
export async function flush(tx: Transaction, ctx: Flushing, input: FlushInput): Promise<Flushed> {
  requireKeys(input.end.changes);
  const [row] = await runFlush(tx, ctx, input);
  if (row === undefined) return readEnded(tx, input);
  requireSizes(row.sizes);
  const keys = row.changes.map(({ topic, key }) => JSON.stringify({ topic, key }));
  await tell(tx, changesChannel, keys);
  await tellUnits(tx, { relations: row.relations });
  const isBroken = input.outcome === 'succeeded' && row.hook.endsWith('-relation-broken') && row.relationId !== null;
  const broken = isBroken ? [{ relationId: Number(row.relationId), unitId: input.unitId }] : [];
  const endedServices = await breakRelations(tx, ctx, broken, { vmId: input.vmId, id: input.runId });
  const { versions, dropped } = row;
  return { outcome: 'stored', was: null, versions, dropped, endedServices };
}

async function runFlush(tx: Transaction, ctx: Flushing, input: FlushInput): Promise<FlushRow[]> {
  const { vmId, runId, unitId, outcome, end, refused } = input;
  const given = {
    ...{ outcome, seconds: end.seconds, exit_code: end.exitCode, signal: end.signal, views: end.views },
    ...{ refused, reason: end.reason && storedReason(end.reason) },
  };
  const changes = (outcome === 'succeeded' ? (end.changes ?? []) : []).map(({ relation, set, remove }) => ({
    relation,
    set: sealSettings(ctx.keys, { relationId: relation, unitId }, set),
    gone: remove,
  }));
  const params = [vmId, runId, unitId, ctx.now.toISOString(), JSON.stringify(given), JSON.stringify(changes)];
  return runPrepared(tx, flushStatement, [...params, tellsByStatement(tx)]);
}

async function readEnded(tx: Transaction, { vmId, runId, unitId }: FlushInput): Promise<Flushed> {
  const [run] = await tx
    .select({ outcome: hookRuns.outcome, result: hookRuns.result })
    .from(hookRuns)
    .where(and(eq(hookRuns.vmId, vmId), eq(hookRuns.id, runId), eq(hookRuns.unitId, unitId)));
  const { versions = {}, dropped = [] } = run?.result ?? {};
  const isEnded = run !== undefined && run.outcome !== 'running';
  const outcome = isEnded ? 'repeated' : 'unknown';
  return { outcome, was: isEnded ? run.outcome : null, versions, dropped, endedServices: [] };
}
