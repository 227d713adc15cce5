import type { Readable } from 'node:stream';
import { and, eq } from 'drizzle-orm';
import { runbookFileRevisions, runbookFiles } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type OpenRunbookFileInput, openRunbookFileInput } from './input.ts';

/** The bytes of a file. */
export interface OpenRunbookFile {
  sha256: string;
  size: number;
  stream: Readable;
}

/**
 * Opens the current or earlier contents of a file, for operators. Throws 404 `runbook_file_unknown`, 503
 * `runbook_file_damaged`.
 */
export async function openRunbookFile(ctx: Context, input: OpenRunbookFileInput): Promise<OpenRunbookFile> {
  allow(ctx.actor, 'operator');
  const { id, revision } = parse(openRunbookFileInput, input);
  const [current] = await ctx.db.select().from(runbookFiles).where(eq(runbookFiles.id, id));
  const [earlier] =
    revision === undefined || revision === current?.revision
      ? [current]
      : await ctx.db
          .select()
          .from(runbookFileRevisions)
          .where(and(eq(runbookFileRevisions.id, id), eq(runbookFileRevisions.revision, revision)));
  if (earlier === undefined) throw new DomainError('not_found', 'runbook_file_unknown');
  const { sha256, size } = earlier;
  const blob = await ctx.blobs.open(sha256);
  if (blob?.size === size) return { sha256, size, stream: blob.stream };
  blob?.stream.destroy();
  throw new DomainError('unavailable', 'runbook_file_damaged');
}
