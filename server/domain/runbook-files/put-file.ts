import { rm } from 'node:fs/promises';
import { and, eq, lte } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { runbookFileRevisions, runbookFiles } from '#db/schema/index.ts';
import { allowScripts } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { lockBytes, removeUnusedBytes, type UploadedFile } from '#server/domain/packages/index.ts';
import { parse } from '#server/domain/parse.ts';
import { type RunbookFileInput, runbookFileInput } from './input.ts';
import { type RunbookFile, type RunbookFileRow, runbookFileOf } from './runbook-file.ts';

/** Number of earlier contents that are kept for each file. */
const keptRevisions = 20;

/**
 * Stores the contents of a file, and keeps the earlier contents as a revision. `isNew`: the file did not exist.
 * Uploading the same contents again only replaces the stored bytes, which may be lost or damaged. The uploaded file is
 * always deleted.
 */
export async function putRunbookFile(
  ctx: Context,
  input: RunbookFileInput & { upload: UploadedFile },
): Promise<{ file: RunbookFile; isNew: boolean }> {
  const { upload } = input;
  try {
    allowScripts(ctx.actor);
    const { id } = parse(runbookFileInput, { id: input.id });
    const { row, isNew, freed } = await ctx.db.transaction((tx) => store(tx, ctx, id, upload));
    for (const sha256 of freed) await removeUnusedBytes(ctx, sha256);
    return { file: runbookFileOf(row), isNew };
  } finally {
    await rm(upload.path, { force: true });
  }
}

interface Stored {
  row: RunbookFileRow;
  isNew: boolean;
  /** Digests of earlier contents that are no longer kept. */
  freed: string[];
}

async function store(tx: Transaction, ctx: Context, id: string, { path, sha256, size }: UploadedFile): Promise<Stored> {
  await lockBytes(tx, sha256);
  const values = { sha256, size, storedAt: ctx.now, storedBy: ctx.actor.name };
  const [created] = await tx
    .insert(runbookFiles)
    .values({ id, revision: 1, ...values })
    .onConflictDoNothing()
    .returning();
  const [before] = await tx.select().from(runbookFiles).where(eq(runbookFiles.id, id)).for('update');
  if (before === undefined) throw new Error(`the file ${id} was not written`);
  // The stored bytes may be lost or damaged, so they are replaced even if the digest is the same.
  await ctx.blobs.putFile(path, sha256);
  if (created === undefined && before.sha256 === sha256) return { row: before, isNew: false, freed: [] };
  const row = created ?? (await replace(tx, before, values));
  await recordAudit(tx, ctx, {
    action: 'runbook-file.put',
    target: { kind: 'runbook-file', id },
    ...(created === undefined && { before: { sha256: before.sha256, size: before.size } }),
    after: { sha256, size },
    details: { revision: row.revision },
  });
  return { row, isNew: created !== undefined, freed: await dropOldRevisions(tx, row) };
}

async function replace(
  tx: Transaction,
  before: RunbookFileRow,
  values: Omit<RunbookFileRow, 'id' | 'revision'>,
): Promise<RunbookFileRow> {
  await tx.insert(runbookFileRevisions).values(before);
  const [row] = await tx
    .update(runbookFiles)
    .set({ ...values, revision: before.revision + 1 })
    .where(eq(runbookFiles.id, before.id))
    .returning();
  if (row === undefined) throw new Error(`the file ${before.id} was not written`);
  return row;
}

/** Deletes the revisions that are no longer kept. Returns their digests. */
async function dropOldRevisions(tx: Transaction, { id, revision }: RunbookFileRow): Promise<string[]> {
  const dropped = await tx
    .delete(runbookFileRevisions)
    .where(and(eq(runbookFileRevisions.id, id), lte(runbookFileRevisions.revision, revision - 1 - keptRevisions)))
    .returning({ sha256: runbookFileRevisions.sha256 });
  return dropped.map(({ sha256 }) => sha256);
}
