import type { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import type { hookRuns } from '#db/schema/index.ts';
import type { runEnded, UnitRunEnd } from '#protocol/unit-runs.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import type { RunOutcome } from '#server/domain/service-rules/words.ts';
import { flush } from '../relations/index.ts';
import { type RunName, readRun } from './begin-run.ts';
import { confirmed, failed, storeUnit } from './confirm-unit.ts';
import { lockUnit, type UnitRow } from './find-unit.ts';

type RunEnded = z.output<typeof runEnded>;
type RunRow = typeof hookRuns.$inferSelect;
type EndOutcome = Exclude<RunOutcome, 'running' | 'skipped'>;

/**
 * Ends a run of a hook and, if it ended with 0, stores everything that the hook changed, in one transaction (EN-10). May
 * be repeated (EN-59). Throws 409 `run_unknown` | `run_superseded` | `unit_gone`, 422 if the changes are rejected; the
 * run is then stored as `refused`.
 */
export async function endRun(ctx: Context, name: RunName, end: UnitRunEnd): Promise<RunEnded> {
  try {
    return await ctx.db.transaction((tx) => endIn(tx, ctx, name, end, outcomeOf(end)));
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== 'unprocessable') throw error;
    const { changes: _, ports: __, ...rest } = end;
    await ctx.db.transaction((tx) => endIn(tx, ctx, name, rest, 'refused', error.code));
    throw error;
  }
}

/** Returns the outcome of a run. Without an exit code and a signal, the agent ended the hook because it was stopped. */
export function outcomeOf({ exitCode, signal, timedOut }: UnitRunEnd): EndOutcome {
  if (timedOut) return 'timed-out';
  if (exitCode === null && signal === null) return 'interrupted';
  return exitCode === 0 && signal === null ? 'succeeded' : 'failed';
}

async function endIn(
  tx: Transaction,
  ctx: Context,
  name: RunName,
  end: UnitRunEnd,
  outcome: EndOutcome,
  refused?: string,
): Promise<RunEnded> {
  const { vmId, run: id } = name;
  const unit = await lockUnit(tx, vmId, name.unit);
  const run = await readRun(tx, vmId, id);
  if (run === undefined || run.unitId !== unit.id) throw new DomainError('conflict', 'run_unknown');
  if (run.outcome !== 'running') return repeated(run);
  const ended = { vmId, runId: id, unitId: unit.id, outcome, end, ...(refused !== undefined && { refused }) };
  const { versions, dropped } = await flush(tx, ctx, ended);
  await storeOutcome(tx, ctx, unit, run, outcome, end);
  await recordChange(tx, 'vm', vmId);
  return { outcome: 'stored', versions: { ...versions }, ...(dropped.length > 0 && { dropped: [...dropped] }) };
}

async function storeOutcome(
  tx: Transaction,
  ctx: Context,
  unit: UnitRow,
  run: RunRow,
  outcome: EndOutcome,
  end: UnitRunEnd,
): Promise<void> {
  const { hook, relationId, attempt } = run;
  if (outcome === 'interrupted') return;
  const cause = { vmId: run.vmId, id: run.id };
  if (outcome === 'succeeded') {
    const settings = run.dueVersion ?? unit.settingsVersion;
    const after = confirmed(unit, { hook, relationId, formula: run.formulaVersion, settings, run: cause }, ctx.now);
    await storeUnit(tx, ctx, { before: unit, after, run: cause });
    return;
  }
  const failure = { hook, run: run.id, failures: attempt, outcome, exitCode: end.exitCode };
  await storeUnit(tx, ctx, { before: unit, after: failed(unit, relationId, failure, ctx.now), run: null });
}

/** Answers a repeated `end` as the first one. A run that was interrupted cannot end any more. */
function repeated(run: RunRow): RunEnded {
  if (run.seconds === null) throw new DomainError('conflict', 'run_superseded');
  if (run.refused !== null) throw new DomainError('unprocessable', run.refused as never);
  const { versions = {}, dropped = [] } = run.result ?? {};
  return { outcome: 'repeated', versions: { ...versions }, ...(dropped.length > 0 && { dropped: [...dropped] }) };
}
