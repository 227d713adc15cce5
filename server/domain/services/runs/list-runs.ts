import { and, desc, eq, lt } from 'drizzle-orm';
import { hookRuns } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { readNumberCursor, writeCursor } from '#server/domain/cursor.ts';
import { readOutputOfRun } from '#server/domain/logs/index.ts';
import { parse } from '#server/domain/parse.ts';
import { findRun } from './find-run.ts';
import { type ListRunsInput, listRunsInput, type ReadRunOutputInput, readRunOutputInput } from './input.ts';
import { findModelUnit, type HookRun, runOf, selectRuns } from './shown-run.ts';

/** Lists the runs of a unit's hooks, newest first. Throws 404 `unit_unknown`, 400 `cursor_invalid`. */
export async function listRuns(
  ctx: Context,
  input: ListRunsInput,
): Promise<{ items: HookRun[]; nextCursor: string | null }> {
  allow(ctx.actor, 'viewer');
  const { hook, outcome, limit, cursor, ...name } = parse(listRunsInput, input);
  const unit = await findModelUnit(ctx.db, name);
  const rows = await selectRuns(ctx.db)
    .where(
      and(
        eq(hookRuns.unitId, unit.id),
        eq(hookRuns.vmId, unit.vmId),
        hook === undefined ? undefined : eq(hookRuns.hook, hook),
        outcome === undefined ? undefined : eq(hookRuns.outcome, outcome),
        cursor === undefined ? undefined : lt(hookRuns.number, readNumberCursor(cursor)),
      ),
    )
    .orderBy(desc(hookRuns.number))
    .limit(limit + 1);
  const items = rows.slice(0, limit).map(runOf);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? writeCursor([String(last.number)]) : null };
}

/** Returns rows of a run's output, for operators. Throws 404 `unit_unknown` | `run_unknown`. */
export async function readRunOutput(
  ctx: Context,
  input: ReadRunOutputInput,
): Promise<Awaited<ReturnType<typeof readOutputOfRun>>> {
  allow(ctx.actor, 'operator');
  const { row, count, ...name } = parse(readRunOutputInput, input);
  const { run } = await findRun(ctx, name);
  return readOutputOfRun(ctx, run, { row, count });
}
