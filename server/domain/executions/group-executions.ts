import { and, count, desc, eq, isNull, max } from 'drizzle-orm';
import { executions, vms } from '#db/schema/index.ts';
import type { ExecutionState } from '#protocol/executions/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type Cancellation, type GroupExecutionsInput, groupExecutionsInput } from './input.ts';
import { cancellationOf, conditionsOf } from './list-executions.ts';

/** Executions of the same plan, counted by state and error code. */
export interface ExecutionGroup {
  name: string;
  version: string;
  runbook: string | null;
  count: number;
  /** When the newest execution was queued. */
  newestAt: string;
  /** Most frequent first. */
  outcomes: { state: ExecutionState; cancellation: Cancellation | null; code: number | null; count: number }[];
}

/** Maximum numbers of executions and outcomes that are read. */
const maxExecutions = 10_000;
const maxOutcomes = 1_000;

/**
 * Groups the newest executions of all VMs by plan and outcome. The group with the newest execution comes first.
 * `isCut` says whether executions or outcomes may be missing.
 */
export async function groupExecutions(
  ctx: Context,
  input: GroupExecutionsInput,
): Promise<{ groups: ExecutionGroup[]; isCut: boolean }> {
  allow(ctx.actor, 'viewer');
  const filter = parse(groupExecutionsInput, input);
  const { id, name, version, runbook, state, errorCode, queuedAt } = executions;
  const newest = ctx.db
    .select({ name, version, runbook, state, cancellation: cancellationOf.as('cancellation'), errorCode, queuedAt })
    .from(executions)
    .innerJoin(vms, eq(vms.id, executions.vmId))
    .where(and(isNull(vms.deletedAt), ...conditionsOf(filter)))
    .orderBy(desc(id))
    .limit(maxExecutions)
    .as('newest');
  const rows = await ctx.db
    .select({
      ...{ name: newest.name, version: newest.version, runbook: newest.runbook },
      ...{ state: newest.state, cancellation: newest.cancellation, code: newest.errorCode },
      ...{ count: count(), newestAt: max(newest.queuedAt) },
    })
    .from(newest)
    .groupBy(newest.name, newest.version, newest.runbook, newest.state, newest.cancellation, newest.errorCode)
    .orderBy(desc(count()), newest.state, newest.cancellation, newest.errorCode)
    .limit(maxOutcomes + 1);
  const total = rows.reduce((sum, row) => sum + row.count, 0);
  const shown = rows.slice(0, maxOutcomes);
  return { groups: groupsOf(shown), isCut: total >= maxExecutions || rows.length > maxOutcomes };
}

type Row = Omit<ExecutionGroup, 'newestAt' | 'outcomes'> &
  ExecutionGroup['outcomes'][number] & { newestAt: Date | null };

function groupsOf(rows: readonly Row[]): ExecutionGroup[] {
  const groups = new Map<string, ExecutionGroup>();
  for (const { name, version, runbook, state, cancellation, code, count, newestAt } of rows) {
    const key = JSON.stringify([name, version, runbook]);
    const at = newestAt?.toISOString() ?? '';
    const group = groups.get(key) ?? { name, version, runbook, count: 0, newestAt: at, outcomes: [] };
    group.count += count;
    if (at > group.newestAt) group.newestAt = at;
    group.outcomes.push({ state, cancellation, code, count });
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => (a.newestAt < b.newestAt ? 1 : -1));
}
