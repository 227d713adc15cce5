import { and, desc, eq, lt } from 'drizzle-orm';
import { z } from 'zod';
import { hookRuns } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { readNumberCursor, writeCursor } from '#server/domain/cursor.ts';
import { DomainError } from '#server/domain/error.ts';
import { readOutputOfRun } from '#server/domain/logs/index.ts';
import { parse } from '#server/domain/parse.ts';
import {
  type GetRunInput,
  getRunInput,
  type ListRunsInput,
  listRunsInput,
  type ReadRunOutputInput,
  readRunOutputInput,
} from './input.ts';
import { findModelUnit, type HookRun, hookRun, runCause, runOf, selectRuns } from './shown-run.ts';

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

/** A run with its chain of causes. */
export const hookRunDetails = hookRun.extend({
  causes: z
    .array(runCause)
    .describe('The chain of causes, nearest first. The last one names the act of an operator, if it is known.'),
});
export type HookRunDetails = z.infer<typeof hookRunDetails>;

/** So many causes are followed. Two services that change each other's settings cause each other without end. */
const maxCauses = 20;

/** Returns a run with its chain of causes (EN-78). Throws 404 `unit_unknown` | `run_unknown`. */
export async function getRun(ctx: Context, input: GetRunInput): Promise<HookRunDetails> {
  allow(ctx.actor, 'viewer');
  const run = await findRun(ctx, parse(getRunInput, input));
  const causes: HookRunDetails['causes'] = [];
  let next = run.cause;
  while (next !== null && causes.length < maxCauses) {
    causes.push(next);
    const { run: before } = next;
    if (before === undefined) break;
    const [found] = await selectRuns(ctx.db).where(and(eq(hookRuns.vmId, before.vmId), eq(hookRuns.id, before.id)));
    next = found === undefined ? null : runOf(found).cause;
  }
  return { ...run, causes };
}

/** Returns rows of a run's output, for operators. Throws 404 `unit_unknown` | `run_unknown`. */
export async function readRunOutput(
  ctx: Context,
  input: ReadRunOutputInput,
): Promise<Awaited<ReturnType<typeof readOutputOfRun>>> {
  allow(ctx.actor, 'operator');
  const { row, count, ...name } = parse(readRunOutputInput, input);
  const { vmId, unit, number } = await findRun(ctx, name);
  return readOutputOfRun(ctx, { vmId, unit, number }, { row, count });
}

async function findRun(ctx: Context, { run: id, ...name }: z.output<typeof getRunInput>): Promise<HookRun> {
  const unit = await findModelUnit(ctx.db, name);
  const [found] = await selectRuns(ctx.db).where(and(eq(hookRuns.vmId, unit.vmId), eq(hookRuns.id, id)));
  if (found === undefined || found.run.unitId !== unit.id) throw new DomainError('not_found', 'run_unknown');
  return runOf(found);
}
