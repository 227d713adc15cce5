import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type ErrorCode } from '#server/domain/error.ts';

/** A file that arrived whole, with its digest. Whoever gets it takes care of it. */
export interface UploadedFile {
  path: string;
  sha256: string;
  size: number;
}

/** How far behind the slowest pace an upload may fall before it is given up. */
const defaultPatienceMs = 10_000;

/** Of uploads that are no packages: how large they may be, and what is said of larger ones. */
export interface UploadBounds {
  limit?: number;
  code?: ErrorCode;
  patienceMs?: number;
}

/**
 * Writes an upload to a temporary file while hashing it. `declared` is the length that the sender announced, if any:
 * one that is too long is refused unread. Throws 413 `package_too_large`, or
 * the code that is given, 400 `upload_too_slow` | `upload_broken`,
 * and leaves nothing behind then.
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
  const pace = new Pace(ctx.config.limits.http.uploadBytesPerSecond, patienceMs);
  const chunks = body[Symbol.asyncIterator]();
  let complete = false;
  try {
    for (;;) {
      const next = await pace.within(chunks.next());
      if (next.done) break;
      pace.received += next.value.byteLength;
      if (pace.received > limit) throw tooLarge();
      hash.update(next.value);
      await file.writeFile(next.value);
    }
    if (declared !== undefined && declared !== pace.received) throw new DomainError('bad_request', 'upload_broken');
    // A full disk may show no earlier.
    await file.close();
    complete = true;
    return { path, sha256: hash.digest('hex'), size: pace.received };
  } finally {
    if (!complete) {
      await file.close().catch(() => {});
      await rm(path, { force: true });
      // Not awaited: a sender that sends nothing would be waited for.
      chunks.return?.(undefined).catch(() => {});
    }
  }
}

/** Holds a sender to a number of bytes per second, measured from the start. */
class Pace {
  received = 0;
  private readonly perSecond: number;
  private readonly patienceMs: number;
  private readonly started = performance.now();

  constructor(perSecond: number, patienceMs: number) {
    this.perSecond = perSecond;
    this.patienceMs = patienceMs;
  }

  /** The next chunk, or a refusal once the average is too low. A stream that breaks off is the sender's affair. */
  async within<T>(chunk: Promise<T>): Promise<T> {
    const allowedMs = this.patienceMs + (this.received / this.perSecond) * 1000;
    const leftMs = Math.max(0, allowedMs - (performance.now() - this.started));
    let timer: NodeJS.Timeout | undefined;
    const tooSlow = new Promise<never>((_, reject) => {
      const refusal = new DomainError('bad_request', 'upload_too_slow', { params: { limit: this.perSecond } });
      timer = setTimeout(() => reject(refusal), leftMs);
    });
    try {
      return await Promise.race([chunk.catch(broken), tooSlow]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function broken(cause: unknown): never {
  if (cause instanceof DomainError) throw cause;
  throw new DomainError('bad_request', 'upload_broken', { cause });
}

/** Removes an uploaded file that no verb took over. */
export async function removeUpload({ path }: UploadedFile): Promise<void> {
  await rm(path, { force: true });
}
