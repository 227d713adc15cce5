import { eq } from 'drizzle-orm';
import type { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { type hookRuns, units } from '#db/schema/index.ts';
import type { runEnded, UnitRunEnd } from '#protocol/unit-runs.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import type { RunOutcome } from '#server/domain/service-rules/words.ts';
import { lockPortsOf } from '#server/domain/topology/index.ts';
import { flush } from '../relations/index.ts';
import { type RunName, readRun } from './begin-run.ts';
import { changePorts } from './change-ports.ts';
import { confirmed, failed, storeUnit } from './confirm-unit.ts';
import { lockUnit, type UnitRow } from './find-unit.ts';
import { canAdvance, lockForStart, type Settling, settle } from './settle.ts';

type RunEnded = z.output<typeof runEnded>;
type RunRow = typeof hookRuns.$inferSelect;
/** The outcome, and the code with which changes are rejected. */
type EndingAs = [outcome: EndOutcome, refused?: string];
type EndOutcome = Exclude<RunOutcome, 'running' | 'skipped'>;

/**
 * Ends a run of a hook and, if it ended with 0, stores everything that the hook changed, in one transaction (EN-10).
 * May be repeated (EN-59). Throws 409 `run_unknown` | `run_superseded` | `unit_gone`, 422 if the changes are rejected;
 * the run is then stored as `refused`.
 */
export async function endRun(ctx: Context, name: RunName, end: UnitRunEnd): Promise<RunEnded> {
  try {
    return await endWith(ctx, name, end, outcomeOf(end));
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== 'unprocessable') throw error;
    const { changes: _, ports: __, ...rest } = end;
    await endWith(ctx, name, rest, 'refused', error.code);
    throw error;
  }
}

async function endWith(ctx: Context, name: RunName, end: UnitRunEnd, ...as: EndingAs): Promise<RunEnded> {
  const { answer, settling } = await ctx.db.transaction((tx) => endIn(tx, ctx, name, end, ...as));
  if (settling !== null) await settle(ctx, settling);
  return answer;
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
  ...[outcome, refused]: EndingAs
): Promise<{ answer: RunEnded; settling: Settling | null }> {
  const { vmId, run: id } = name;
  const begun = await readRun(tx, vmId, id);
  if (end.ports !== undefined) await lockPortsOf(tx, vmId);
  await lockForStart(tx, vmId, name.unit, [begun?.hook ?? '']);
  const unit = await lockUnit(tx, vmId, name.unit);
  const run = await readRun(tx, vmId, id);
  if (run === undefined || run.unitId !== unit.id) throw new DomainError('conflict', 'run_unknown');
  if (run.outcome !== 'running') return { answer: repeated(run), settling: null };
  const ended = { vmId, runId: id, unitId: unit.id, outcome, end, ...(refused !== undefined && { refused }) };
  const { versions, dropped, endedServices } = await flush(tx, ctx, ended);
  if (outcome === 'succeeded' && end.ports !== undefined) await changePorts(tx, ctx, unit, id, end.ports);
  const after = await storeOutcome(tx, ctx, unit, run, outcome, end);
  await recordChange(tx, 'vm', vmId);
  return {
    answer: { outcome: 'stored', versions: { ...versions }, ...(dropped.length > 0 && { dropped: [...dropped] }) },
    settling: { serviceId: unit.serviceId, advances: canAdvance(run.hook, unit, after), endedServices },
  };
}

async function storeOutcome(
  tx: Transaction,
  ctx: Context,
  unit: UnitRow,
  run: RunRow,
  outcome: EndOutcome,
  end: UnitRunEnd,
): Promise<UnitRow> {
  const { hook, relationId, attempt } = run;
  if (outcome === 'interrupted') return unit;
  const cause = { vmId: run.vmId, id: run.id };
  if (outcome === 'succeeded') {
    const settings = run.dueVersion ?? unit.settingsVersion;
    const versions = { formula: run.formulaVersion, settings, address: run.dueAddress?.public };
    const after = confirmed(unit, { hook, relationId, ...versions, run: cause }, ctx.now);
    await storeUnit(tx, ctx, { before: unit, after, run: cause });
    return after;
  }
  const remoteUnit = await nameOf(tx, run.remoteUnitId);
  const failure = { hook, run: run.id, failures: attempt, outcome, exitCode: end.exitCode, ...remoteUnit };
  const after = failed(unit, relationId, failure, ctx.now);
  await storeUnit(tx, ctx, { before: unit, after, run: null });
  return after;
}

async function nameOf(tx: Transaction, unitId: string | null): Promise<{ remoteUnit?: string }> {
  if (unitId === null) return {};
  const [unit] = await tx.select({ name: units.name }).from(units).where(eq(units.id, unitId));
  return unit === undefined ? {} : { remoteUnit: unit.name };
}

/** Answers a repeated `end` as the first one. An interrupted run can no longer end. */
function repeated(run: RunRow): RunEnded {
  if (run.seconds === null) throw new DomainError('conflict', 'run_superseded');
  if (run.refused !== null) throw new DomainError('unprocessable', run.refused as never);
  const { versions = {}, dropped = [] } = run.result ?? {};
  return { outcome: 'repeated', versions: { ...versions }, ...(dropped.length > 0 && { dropped: [...dropped] }) };
}
