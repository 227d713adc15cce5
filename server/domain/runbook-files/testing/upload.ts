import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { Context } from '#server/domain/context.ts';
import type { UploadedFile } from '#server/domain/packages/index.ts';
import { putRunbookFile } from '#server/domain/runbook-files/index.ts';

export const digestOf = (contents: string): string => createHash('sha256').update(contents).digest('hex');

/** Writes contents to a temporary file, as the entry points do for an upload. */
export async function uploaded(ctx: Context, contents: string): Promise<UploadedFile> {
  const path = await ctx.blobs.temporaryPath();
  await writeFile(path, contents);
  return { path, sha256: digestOf(contents), size: Buffer.byteLength(contents) };
}

/** Stores a file of execution plans. */
export const uploadRunbookFile = async (ctx: Context, id: string, contents: string) =>
  putRunbookFile(ctx, { id, upload: await uploaded(ctx, contents) });
