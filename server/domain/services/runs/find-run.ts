import { and, eq } from 'drizzle-orm';
import { hookRuns } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import type { UnitRow } from './find-unit.ts';
import { findModelUnit, type HookRun, runOf, type SelectedRun, selectRuns } from './shown-run.ts';

/** A run, its row, and its unit. */
export interface FoundRun {
  unit: UnitRow;
  row: SelectedRun['run'];
  run: HookRun;
}

/** Finds a run of a unit, even after the unit’s removal. Throws 404 `unit_unknown` | `run_unknown`. */
export async function findRun(
  { db }: Pick<Context, 'db'>,
  { run: id, ...name }: { model: string; unit: string; run: string },
): Promise<FoundRun> {
  const unit = await findModelUnit(db, name);
  const [found] = await selectRuns(db).where(and(eq(hookRuns.vmId, unit.vmId), eq(hookRuns.id, id)));
  if (found === undefined || found.run.unitId !== unit.id) throw new DomainError('not_found', 'run_unknown');
  return { unit, row: found.run, run: runOf(found) };
}
