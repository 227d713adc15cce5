import { getTableColumns } from 'drizzle-orm';
import type { Database } from '#db/client.ts';
import { executions } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { type Pauses, pausesOf } from '#server/domain/verdicts/index.ts';
import { Batches } from '#server/platform/batches.ts';
import { slot } from '#server/platform/process-memory.ts';
import type { SeenExecution } from './change-execution.ts';
import type { PinnedFile } from './execution-files.ts';
import type { ExecutionRow } from './rows.ts';

/**
 * The execution that a VM's machine has or, if it has none, the first queued execution, with everything that is needed
 * to deliver it.
 */
export interface NextExecution extends SeenExecution {
  isHeld: boolean;
  /** When the VM's machine enrolled; null if no machine is connected. */
  enrolledAt: Date | null;
  holds: Pauses;
  planText: string;
  files: PinnedFile[];
}

const columns = getTableColumns(executions);

/** Finds the next execution of each VM in $1. */
const nextStatement = {
  name: 'executions-next',
  text: `
select ${Object.values(columns)
    .map(({ name }) => `e."${name}"`)
    .join(', ')}, e.xmin::text as "seen$", h.held_etag is not null as "isHeld$", a.enrolled_at as "enrolledAt$",
  o.since as "heldAt$", o.past as "pastHolds$", p.text as "planText$",
  (select coalesce(json_agg(json_build_object('file', f.file, 'sha256', f.sha256, 'size', f.size) order by f.file), '[]')
     from execution_files f where f.vm_id = e.vm_id and f.execution_id = e.id) as "files$"
  from unnest($1::uuid[]) as v (vm_id)
  join executions e on e.vm_id = v.vm_id and e.id = coalesce(
    (select x.id from executions x where x.vm_id = v.vm_id and x.state in ('delivered', 'running', 'restarting')),
    (select x.id from executions x where x.vm_id = v.vm_id and x.state = 'queued' order by x.turn limit 1))
  join goal_state_heads h on h.vm_id = e.vm_id
  join execution_plans p on p.sha256 = e.plan_sha256
  left join agents a on a.vm_id = e.vm_id
  left join holds o on o.vm_id = e.vm_id`,
};

const nextBatches = slot(() => new Batches<string, NextExecution | null>({ items: 200, atOnce: 2 }));

/**
 * Returns the execution that a VM's machine has or, if it has none, the first queued execution; null if there is
 * neither.
 */
export function findNext(ctx: Context, vmId: string): Promise<NextExecution | null> {
  return ctx.memory.of(nextBatches).run(vmId, (vmIds) => findAll(ctx.db, vmIds));
}

async function findAll(db: Database, vmIds: readonly string[]): Promise<(NextExecution | null)[]> {
  const { rows } = await db.$client.query<Record<string, unknown>>({ ...nextStatement, values: [[...new Set(vmIds)]] });
  const found = new Map(rows.map((row) => [row.vm_id, nextOf(row)]));
  return vmIds.map((vmId) => found.get(vmId) ?? null);
}

function nextOf(row: Record<string, unknown>): NextExecution {
  const heldAt = row.heldAt$ as Date | null;
  const pastHolds = row.pastHolds$ as Pauses['past'] | null;
  return {
    row: rowOf(row),
    seen: row.seen$ as string,
    isHeld: row.isHeld$ as boolean,
    enrolledAt: row.enrolledAt$ as Date | null,
    holds: pausesOf({ heldAt, pastHolds, laneTakenAt: null, laneTimes: null }),
    planText: row.planText$ as string,
    files: row.files$ as PinnedFile[],
  };
}

const rowOf = (row: Record<string, unknown>): ExecutionRow =>
  Object.fromEntries(
    Object.entries(columns).map(([key, column]) => {
      const value = row[column.name];
      return [key, value === null ? null : column.mapFromDriverValue(value as never)];
    }),
  ) as ExecutionRow;
