import { sql } from 'drizzle-orm';
import type { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { executionCalls } from '#db/schema/index.ts';
import { type ExecutionCall, executionProgress } from '#protocol/executions/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { isFinal, nextProgressSeconds } from './execution.ts';
import { noteLaneTaken } from './lane-times.ts';
import { announce, apply, type ExecutionRow, lockExecution, note } from './rows.ts';

/** Calls per statement: PostgreSQL accepts 65,535 parameters, and a row has 13. */
const callsAtOnce = 2_000;

/**
 * Stores an agent's progress report: whether it has received the plan, whether the Body is running, and which calls
 * changed. Reports older than the stored state change nothing. Returns the seconds until the next report. Throws 404
 * `execution_unknown` and 409 `execution_concluded`; after 409, the agent ends the execution.
 */
export async function noteProgress(ctx: Context, vmId: string, id: string, input: unknown): Promise<number> {
  const progress = parse(executionProgress, input, 'bad_request');
  return ctx.db.transaction(async (tx) => {
    const row = await lockExecution(tx, vmId, id);
    if (isFinal(row.state) || row.state === 'queued') throw new DomainError('conflict', 'execution_concluded');
    const receivedAt = row.receivedAt ?? ctx.now;
    if (progress.state === 'received') {
      if (row.receivedAt === null) {
        await note(tx, row, { receivedAt });
        await noteLaneTaken(tx, vmId, receivedAt);
      }
    } else if (progress.run >= row.run) {
      const began = row.begunAt ?? new Date(ctx.now.getTime() - progress.sentMsAgo);
      const values = { receivedAt, run: progress.run, begunAt: began };
      await apply(tx, ctx, row, progress.state === 'running' ? 'run' : 'restart', {
        ...values,
        reboots: row.reboots + (progress.state === 'restarting' && row.state !== 'restarting' ? 1 : 0),
      });
      if (row.receivedAt === null) await noteLaneTaken(tx, vmId, began);
      await storeCalls(tx, row, progress);
    }
    await announce(tx, vmId, 'pages');
    return nextProgressSeconds(ctx.now, row.begunAt, row.followedUntil);
  });
}

/** Stores changed calls. A call of a later run replaces the same call of an earlier run. */
async function storeCalls(
  tx: Transaction,
  { vmId, id: executionId }: ExecutionRow,
  { run, calls = [] }: z.output<typeof executionProgress>,
): Promise<void> {
  const rows = [...new Map(calls.map((call) => [call.n, call])).values()].map((call) => ({
    ...{ vmId, executionId, run },
    ...columnsOf(call),
  }));
  for (let from = 0; from < rows.length; from += callsAtOnce) {
    await tx
      .insert(executionCalls)
      .values(rows.slice(from, from + callsAtOnce))
      .onConflictDoUpdate({
        target: [executionCalls.vmId, executionCalls.executionId, executionCalls.n],
        set: {
          run: sql`excluded.run`,
          script: sql`excluded.script`,
          function: sql`excluded.function`,
          state: sql`excluded.state`,
          row: sql`excluded.row`,
          untilRow: sql`excluded.until_row`,
          atMs: sql`excluded.at_ms`,
          tookMs: sql`excluded.took_ms`,
          exitCode: sql`excluded.exit_code`,
          fromJournal: sql`excluded.from_journal`,
        },
        // A call that has ended does not change again within the same run of the Body.
        setWhere: sql`${executionCalls.run} < excluded.run or ${executionCalls.state} = 'running'`,
      });
  }
}

const columnsOf = (call: ExecutionCall) => ({
  ...call,
  untilRow: call.untilRow ?? null,
  tookMs: call.tookMs ?? null,
  exitCode: call.exitCode ?? null,
  fromJournal: call.fromJournal ?? false,
});
