import { and, desc, eq, ilike, inArray, isNull, lt, notInArray, or, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { executions, vms } from '#db/schema/index.ts';
import { finalStates, notRunReasons } from '#protocol/executions/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { readCursor, writeCursor } from '#server/domain/cursor.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type Cancellation, type ListExecutionsInput, listExecutionsInput } from './input.ts';
import { type Execution, executionOf, shownColumns } from './shown-execution.ts';

/** Lists the executions of one VM or of all VMs, newest first. Throws 400 `cursor_invalid`. */
export async function listExecutions(
  ctx: Context,
  input: ListExecutionsInput,
): Promise<{ items: Execution[]; nextCursor: string | null }> {
  allow(ctx.actor, 'viewer');
  const { vmId, limit, cursor, ...filter } = parse(listExecutionsInput, input);
  const rows = await ctx.db
    .select({ execution: shownColumns, vmName: vms.name })
    .from(executions)
    .innerJoin(vms, eq(vms.id, executions.vmId))
    .where(
      and(
        // Executions of a deleted VM are listed only if the caller names the VM's id.
        vmId === undefined ? isNull(vms.deletedAt) : eq(executions.vmId, vmId),
        ...conditionsOf(filter),
        // Ids increase in the order in which executions were queued.
        cursor === undefined ? undefined : lt(executions.id, placeOf(cursor)),
      ),
    )
    .orderBy(desc(executions.id))
    .limit(limit + 1);
  const items = rows.slice(0, limit).map(({ execution, vmName }) => executionOf(execution, vmName));
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? writeCursor([last.id]) : null };
}

/** Why an execution was canceled; null in SQL if it was not. */
export const cancellationOf = sql<Cancellation | null>`case
  when ${executions.state} <> 'cancelled' then null
  when ${executions.reason} = 'execution.declined' then 'declined'
  when ${inArray(executions.reason, [...notRunReasons])} then 'not-run'
  else 'cancelled' end`;

type Filter = Omit<z.output<typeof listExecutionsInput>, 'vmId' | 'limit' | 'cursor'>;

/** Returns the conditions of a filter, for queries that join `vms`. */
export function conditionsOf(filter: Filter): (SQL | undefined)[] {
  const { ended, group, state, cancellation, runbook, rollout, code, by, q } = filter;
  const pattern = q === undefined ? null : `%${q.replaceAll(/[\\%_]/g, '\\$&')}%`;
  return [
    ended === undefined ? undefined : (ended ? inArray : notInArray)(executions.state, [...finalStates]),
    state === undefined ? undefined : eq(executions.state, state),
    cancellation === undefined ? undefined : eq(cancellationOf, cancellation),
    runbook === undefined ? undefined : eq(executions.runbook, runbook),
    rollout === undefined ? undefined : eq(executions.rolloutId, rollout),
    code === undefined ? undefined : eq(executions.errorCode, code),
    by === undefined ? undefined : eq(executions.queuedBy, by),
    ...(group === undefined ? [] : groupConditions(group)),
    pattern === null ? undefined : or(ilike(executions.name, pattern), ilike(vms.name, pattern)),
  ];
}

function groupConditions({ name, version, runbook, state, cancellation, code }: NonNullable<Filter['group']>): SQL[] {
  return [
    eq(executions.name, name),
    eq(executions.version, version),
    runbook === null ? isNull(executions.runbook) : eq(executions.runbook, runbook),
    eq(executions.state, state),
    ...(cancellation === null ? [] : [eq(cancellationOf, cancellation)]),
    code === null ? isNull(executions.errorCode) : eq(executions.errorCode, code),
  ];
}

function placeOf(cursor: string): string {
  const [id = ''] = readCursor(cursor, 1);
  if (!z.uuid().safeParse(id).success) throw new DomainError('bad_request', 'cursor_invalid');
  return id;
}
