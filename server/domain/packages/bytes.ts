import { and, eq, inArray, isNotNull, sql } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import {
  executionFiles,
  executions,
  handlerVersions,
  logArchives,
  outputPieces,
  runbookFileRevisions,
  runbookFiles,
} from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';

/** Locks these bytes, so that other transactions neither remove nor register them before this transaction ends. */
export async function lockBytes(tx: Transaction, sha256: string): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${sha256}, 0))`);
}

/**
 * Returns the digests whose bytes are referenced by a version, a piece of output, a log archive, a file of execution
 * plans, an execution that has not ended, or the plan of a rollout that has not ended.
 */
export async function usedBytes(db: Database | Transaction, sha256: readonly string[]): Promise<Set<string>> {
  const used = new Set<string>();
  for (const table of [handlerVersions, outputPieces, logArchives, runbookFiles, runbookFileRevisions]) {
    const rows = await db
      .selectDistinct({ sha256: table.sha256 })
      .from(table)
      .where(inArray(table.sha256, [...sha256]));
    for (const row of rows) if (row.sha256 !== null) used.add(row.sha256);
  }
  const pinned = await db
    .selectDistinct({ sha256: executionFiles.sha256 })
    .from(executionFiles)
    .innerJoin(executions, and(eq(executions.vmId, executionFiles.vmId), eq(executions.id, executionFiles.executionId)))
    .where(and(inArray(executionFiles.sha256, [...sha256]), isNotNull(executions.dueAt)));
  for (const row of pinned) used.add(row.sha256);
  for (const digest of await inPlans(db, sha256)) used.add(digest);
  return used;
}

/** Returns the digests among these that the plan of an open rollout has promised to its members. */
async function inPlans(db: Database | Transaction, sha256: readonly string[]): Promise<string[]> {
  const { rows } = await db.execute<{ sha256: string }>(sql`
    select distinct f ->> 'sha256' as sha256
      from rollouts r cross join lateral json_array_elements(r.plan -> 'files') f
     where r.ended_at is null and r.definition #>> '{change,kind}' = 'run'
       and ${inArray(sql`f ->> 'sha256'`, [...sha256])}`);
  return rows.map((row) => row.sha256);
}

/** Removes the bytes if nothing references them. */
export async function removeUnusedBytes(ctx: Pick<Context, 'db' | 'blobs'>, sha256: string): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    await lockBytes(tx, sha256);
    if (!(await usedBytes(tx, [sha256])).has(sha256)) await ctx.blobs.remove(sha256);
  });
}
