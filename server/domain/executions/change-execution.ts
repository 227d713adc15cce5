import { and, eq, sql } from 'drizzle-orm';
import pg from 'pg';
import type { Database } from '#db/client.ts';
import { executions } from '#db/schema/index.ts';
import type { ExecutionCall } from '#protocol/executions/index.ts';
import { changesChannel } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { goalStatesChannel } from '#server/domain/goal-states/index.ts';
import { Batches } from '#server/platform/batches.ts';
import { KeyedLock } from '#server/platform/keyed-lock.ts';
import { slot } from '#server/platform/process-memory.ts';
import { RecentValues } from '#server/platform/recent-values.ts';
import { tell, tellsByStatement } from '#server/platform/wakes/index.ts';
import { changedColumns, changeStatement } from './change-statement.ts';
import { isFinal, isOpen } from './execution.ts';
import type { ExecutionRow } from './rows.ts';

/** An execution as it was read. `seen` identifies the version of the row. */
export interface SeenExecution {
  row: ExecutionRow;
  seen: string;
}

/** A change that an agent's call makes to an execution. */
export interface ExecutionChange {
  values: Partial<Pick<ExecutionRow, (typeof changedColumns)[number]>>;
  /** Whether the change delivers the execution. If so, it is not written while the VM is on hold. */
  isHandOut?: boolean;
  /** When the execution took the VM's lane; absent if this change does not take the lane. */
  laneTakenAt?: Date;
  /** Calls of the Body that changed. */
  calls?: readonly ExecutionCall[];
}

/** What an agent's call does with an execution: the response, and the change (null if nothing changes). */
export interface Decision<Answer> {
  answer: Answer;
  change: ExecutionChange | null;
}

/** Larger changes are written separately, because their JSON would slow down the other changes of a batch. */
const aloneBytes = 256 * 1024;

/** Maximum number of attempts to write a change when other calls change the execution meanwhile. */
const maxTries = 20;

const changeLock = slot(() => new KeyedLock());
const changeBatches = slot(() => new Batches<GivenChange, Outcome>({ items: 200, atOnce: 2 }));

/**
 * The open executions that this process wrote last, by VM and id, so that the next call does not read them again. A
 * stale entry is harmless, because a change that is based on it is not written.
 */
const knownExecutions = slot(() => new RecentValues<SeenExecution>(10_000));

/**
 * Changes an execution as `decide` says, without holding a lock between reading and writing: if another transaction
 * changed the execution meanwhile, `decide` is called again. If `decide` throws, nothing is stored. Throws
 * 404 `execution_unknown`.
 */
export function changeExecution<Answer>(
  ctx: Context,
  vmId: string,
  id: string,
  decide: (row: ExecutionRow) => Decision<Answer>,
): Promise<Answer> {
  return ctx.memory.of(changeLock).run(vmId, async () => {
    const known = ctx.memory.of(knownExecutions).get(keyOf({ vmId, id }));
    if (known !== undefined) {
      const { answer, change } = decide(known.row);
      if (change !== null && (await writeChange(ctx, known, change))) return answer;
    }
    for (let tries = 0; tries < maxTries; tries += 1) {
      const found = await readExecution(ctx.db, vmId, id);
      const { answer, change } = decide(found.row);
      if (change === null || (await writeChange(ctx, found, change))) return answer;
    }
    throw new Error(`execution ${id} changes too often`);
  });
}

const keyOf = ({ vmId, id }: Pick<ExecutionRow, 'vmId' | 'id'>): string => `${vmId}/${id}`;

async function readExecution(db: Database, vmId: string, id: string): Promise<SeenExecution> {
  const [found] = await db
    .select({ row: executions, seen: sql<string>`${executions}.xmin::text` })
    .from(executions)
    .where(and(eq(executions.vmId, vmId), eq(executions.id, id)));
  if (found === undefined) throw new DomainError('not_found', 'execution_unknown');
  return found;
}

/** Writes a change of an execution. Returns false if the execution changed since it was read, or its VM is on hold. */
export async function writeChange(
  ctx: Context,
  { row, seen }: SeenExecution,
  change: ExecutionChange,
): Promise<boolean> {
  const next = { ...row, ...change.values };
  const given = givenChange(ctx, { row, seen }, next, change);
  const write = (changes: readonly GivenChange[]) => writeChanges(ctx.db, changes);
  const isLarge = (next.result?.length ?? 0) + JSON.stringify(change.calls ?? []).length > aloneBytes;
  const written = isLarge ? (await write([given]))[0] : await ctx.memory.of(changeBatches).run(given, write);
  if (written instanceof Error) throw written;
  const known = ctx.memory.of(knownExecutions);
  if (typeof written === 'string' && isOpen(next.state)) known.set(keyOf(row), { row: next, seen: written });
  else known.delete(keyOf(row));
  return typeof written === 'string';
}

/** A change in the form that the statement expects. */
type GivenChange = Readonly<Record<string, unknown>>;

function givenChange(
  { now }: Pick<Context, 'now'>,
  { row, seen }: SeenExecution,
  next: ExecutionRow,
  { isHandOut = false, laneTakenAt, calls }: ExecutionChange,
): GivenChange {
  const ends = isFinal(next.state) && isOpen(row.state);
  return {
    ...{ vm_id: row.vmId, id: row.id, seen, is_hand_out: isHandOut, lane_taken_at: laneTakenAt },
    lane_freed_at: ends && row.receivedAt !== null ? now : undefined,
    dropped_secret: next.secretId === null ? row.secretId : undefined,
    // Gateways are notified, because the VM's next execution can start.
    tells_gateways: isFinal(next.state),
    calls: calls?.map(callRow),
    ...Object.fromEntries(changedColumns.map((key) => [executions[key].name, next[key]])),
  };
}

const callRow = ({ n, script, function: name, state, row, atMs, ...more }: ExecutionCall) => ({
  ...{ n, script, function: name, state, row, at_ms: atMs },
  ...{ until_row: more.untilRow, took_ms: more.tookMs, exit_code: more.exitCode },
  from_journal: more.fromJournal ?? false,
});

/** The new version of a row, null if nothing was written, or why the change cannot be stored. */
type Outcome = string | null | Error;

/** Writes changes in one statement. If one makes the statement fail, each is written separately. */
async function writeChanges(db: Database, changes: readonly GivenChange[]): Promise<Outcome[]> {
  try {
    return await writeTogether(db, changes);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    if (changes.length === 1) return [isConflict(error) ? null : error];
    const outcomes: Outcome[] = [];
    for (const change of changes) outcomes.push(...(await writeChanges(db, [change])));
    return outcomes;
  }
}

interface Written {
  written: { n: number; seen: string }[];
  changes: { topic: string; key: string }[];
  goalStates: string[];
}

async function writeTogether(db: Database, changes: readonly GivenChange[]): Promise<(string | null)[]> {
  const given = changes.map((change, n) => JSON.stringify({ n, ...change }));
  const { rows } = await db.$client.query<Written>({ ...changeStatement, values: [given, tellsByStatement(db)] });
  const [{ written, changes: told, goalStates } = { written: [], changes: [], goalStates: [] }] = rows;
  const keys = told.map(({ topic, key }) => JSON.stringify({ topic, key }));
  await tell(db, changesChannel, keys);
  await tell(db, goalStatesChannel, goalStates);
  const versions = new Map(written.map(({ n, seen }) => [n, seen]));
  return changes.map((_, n) => versions.get(n) ?? null);
}

/** Whether another execution of the VM became open at the same moment. */
const isConflict = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.constraint === 'executions_open';
