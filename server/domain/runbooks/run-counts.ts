import { and, gte, inArray, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '#db/client.ts';
import { executions } from '#db/schema/index.ts';
import { count } from '#server/domain/answers.ts';

/** Number of days for which the runs of a runbook are counted. */
const days = 30;

/**
 * Number of executions of a runbook in the last 30 days, by result. `other`: waiting or running. Cancelled executions
 * are not counted.
 */
export const runCounts = z.object({
  succeeded: count,
  failed: count,
  other: count,
  lastAt: z.iso.datetime().nullable(),
});
export type RunCounts = z.infer<typeof runCounts>;

export const noRuns: RunCounts = { succeeded: 0, failed: 0, other: 0, lastAt: null };

/** Returns the counts of the runbooks that ran in the last 30 days, by name. */
export async function countRuns(db: Database, now: Date, names: readonly string[]): Promise<Map<string, RunCounts>> {
  if (names.length === 0) return new Map();
  const since = new Date(now.getTime() - days * 86_400_000);
  const amount = (states: string) =>
    sql<number>`count(*) filter (where ${executions.state} in ${sql.raw(states)})::int`;
  const rows = await db
    .select({
      runbook: executions.runbook,
      succeeded: amount(`('succeeded')`),
      failed: amount(`('failed', 'timed-out', 'lost', 'expired')`),
      other: amount(`('waiting-approval', 'queued', 'delivered', 'running', 'restarting')`),
      lastAt: sql<Date>`max(${executions.queuedAt})`.mapWith(executions.queuedAt),
    })
    .from(executions)
    .where(and(inArray(executions.runbook, [...names]), gte(executions.queuedAt, since)))
    .groupBy(executions.runbook);
  return new Map(
    rows.map(({ runbook, lastAt, ...counts }) => [runbook ?? '', { ...counts, lastAt: lastAt.toISOString() }]),
  );
}
