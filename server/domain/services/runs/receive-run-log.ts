import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { receiveRunOutput } from '#server/domain/logs/index.ts';
import { type RunName, readRun } from './begin-run.ts';
import { findUnit } from './find-unit.ts';

/**
 * Stores a part of the output of a run, even while the hook runs (EN-23). Returns the number of contiguous bytes
 * received from the start. Throws 404 `unit_unknown` | `run_unknown`.
 */
export async function receiveRunLog(
  ctx: Context,
  { vmId, unit: name, run: id }: RunName,
  range: Parameters<typeof receiveRunOutput>[1]['range'],
  body: AsyncIterable<Uint8Array>,
): Promise<{ received: number }> {
  const unit = await findUnit(ctx.db, vmId, name);
  const run = await readRun(ctx.db, vmId, id);
  if (run === undefined || run.unitId !== unit.id) throw new DomainError('not_found', 'run_unknown');
  const { number, hook, attempt } = run;
  return receiveRunOutput(ctx, { vmId, unit: name, number, hook, attempt, range }, body);
}
