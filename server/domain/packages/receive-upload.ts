import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type ErrorCode } from '#server/domain/error.ts';
import { MinimumPace } from '#server/platform/minimum-pace.ts';

/** An uploaded file and its digest. The caller owns the file. */
export interface UploadedFile {
  path: string;
  sha256: string;
  size: number;
}

/** How long an upload may fall behind the minimum rate, in milliseconds. */
const defaultPatienceMs = 10_000;

/** Overrides the defaults, which apply to packages. `code` is the error code for an upload above `limit`. */
export interface UploadBounds {
  limit?: number;
  code?: ErrorCode;
  patienceMs?: number;
}

/**
 * Writes an upload to a temporary file while hashing it. `declared` is the Content-Length, if any; if it is above the
 * limit, the upload is rejected without reading it. Throws 413 with `package_too_large` or the given code, and 400
 * `upload_too_slow` | `upload_broken`. Leaves no file behind if it throws.
 */
export async function receiveUpload(
  ctx: Pick<Context, 'blobs' | 'config'>,
  body: AsyncIterable<Uint8Array>,
  declared?: number,
  bounds: UploadBounds = {},
): Promise<UploadedFile> {
  const { limit = ctx.config.limits.package.packedBytes, code = 'package_too_large' } = bounds;
  const { patienceMs = defaultPatienceMs } = bounds;
  const tooLarge = () => new DomainError('too_large', code, { params: { limit } });
  if (declared !== undefined && declared > limit) throw tooLarge();
  const path = await ctx.blobs.temporaryPath();
  const file = await open(path, 'wx', 0o600);
  const hash = createHash('sha256');
  const perSecond = ctx.config.limits.http.uploadBytesPerSecond;
  const tooSlow = () => new DomainError('bad_request', 'upload_too_slow', { params: { limit: perSecond } });
  const pace = new MinimumPace(perSecond, patienceMs, tooSlow);
  const chunks = body[Symbol.asyncIterator]();
  let complete = false;
  try {
    for (;;) {
      const next = await pace.within(chunks.next().catch(broken));
      if (next.done) break;
      pace.received += next.value.byteLength;
      if (pace.received > limit) throw tooLarge();
      hash.update(next.value);
      await file.writeFile(next.value);
    }
    if (declared !== undefined && declared !== pace.received) throw new DomainError('bad_request', 'upload_broken');
    // If the disk is full, the error may appear only here.
    await file.close();
    complete = true;
    return { path, sha256: hash.digest('hex'), size: pace.received };
  } finally {
    if (!complete) {
      await file.close().catch(() => {});
      await rm(path, { force: true });
      // Not awaited, because the promise does not settle while the sender sends nothing.
      chunks.return?.(undefined).catch(() => {});
    }
  }
}

function broken(cause: unknown): never {
  if (cause instanceof DomainError) throw cause;
  throw new DomainError('bad_request', 'upload_broken', { cause });
}

/** Deletes an uploaded file that was not passed to a verb. Verbs delete the files that they receive. */
export async function removeUpload({ path }: UploadedFile): Promise<void> {
  await rm(path, { force: true });
}
