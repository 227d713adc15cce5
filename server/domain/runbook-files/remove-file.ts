import { and, eq, isNotNull, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { executionFiles, executions, runbookFileRevisions, runbookFiles, runbookVersions } from '#db/schema/index.ts';
import { allowScripts } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { removeUnusedBytes } from '#server/domain/packages/index.ts';
import { parse } from '#server/domain/parse.ts';
import { type RunbookFileInput, runbookFileInput } from './input.ts';

/**
 * Deletes a file with its earlier contents. Throws 404 `runbook_file_unknown`, 409 `runbook_file_in_use` while an
 * execution that names the file has not ended, 409 `runbook_file_published` while a published version of a runbook
 * names it.
 */
export async function removeRunbookFile(ctx: Context, input: RunbookFileInput): Promise<void> {
  allowScripts(ctx.actor);
  const { id } = parse(runbookFileInput, input);
  const freed = await ctx.db.transaction(async (tx) => {
    const [file] = await tx.select().from(runbookFiles).where(eq(runbookFiles.id, id)).for('update');
    if (file === undefined) throw new DomainError('not_found', 'runbook_file_unknown');
    const [open] = await tx
      .select({ id: executions.id })
      .from(executionFiles)
      .innerJoin(
        executions,
        and(eq(executions.vmId, executionFiles.vmId), eq(executions.id, executionFiles.executionId)),
      )
      .where(and(eq(executionFiles.runbookFile, id), isNotNull(executions.dueAt)))
      .limit(1);
    if (open !== undefined) throw new DomainError('conflict', 'runbook_file_in_use');
    const published = await publishedVersionWith(tx, id);
    if (published !== null) throw new DomainError('conflict', 'runbook_file_published', { params: published });
    const earlier = await tx
      .select({ sha256: runbookFileRevisions.sha256 })
      .from(runbookFileRevisions)
      .where(eq(runbookFileRevisions.id, id));
    await tx.delete(runbookFiles).where(eq(runbookFiles.id, id));
    const { sha256, size } = file;
    await recordAudit(tx, ctx, {
      action: 'runbook-file.remove',
      target: { kind: 'runbook-file', id },
      before: { sha256, size },
    });
    return new Set([sha256, ...earlier.map((each) => each.sha256)]);
  });
  for (const sha256 of freed) await removeUnusedBytes(ctx, sha256);
}

/** Returns a published version of a runbook whose plan names a file; null if there is none. */
async function publishedVersionWith(tx: Transaction, id: string): Promise<{ runbook: string; version: string } | null> {
  // A plan may contain numbers that `jsonb` cannot store, so it is cast to `json`, which does not parse them.
  const files = sql`json_each(${runbookVersions.plan}::json -> 'Files')`;
  const [version] = await tx
    .select({ runbook: runbookVersions.runbook, version: runbookVersions.version })
    .from(runbookVersions)
    .where(
      and(
        eq(runbookVersions.state, 'published'),
        sql`exists (
          select from ${files} as file
          where file.value ->> 'BodyType' = 'ID' and file.value ->> 'Body' = ${id})`,
      ),
    )
    .limit(1);
  return version ?? null;
}
