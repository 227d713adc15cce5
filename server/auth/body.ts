import { DomainError } from '#server/domain/error.ts';
import { parseJson } from '#server/platform/json.ts';
import type { Limits } from '#server/platform/limits.ts';

/** Reads a request's body. Throws 413 `body_too_large` as soon as the body exceeds the limit. */
export async function readBody(request: Request, limit: number): Promise<Buffer<ArrayBuffer>> {
  const tooLarge = () => new DomainError('too_large', 'body_too_large', { params: { limit } });
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > limit) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Parses a JSON body of at most 16 KiB. Throws 415 for other media types, 413 `body_too_large` for a larger body, and
 * 400 with the faults for invalid JSON.
 */
export async function readJsonBody(request: Request, limits: Limits): Promise<unknown> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw new DomainError('unsupported_media_type', 'media_type_unsupported', { params: { type: 'application/json' } });
  }
  const { value, faults } = parseJson(await readBody(request, 16 * 1024), { maxDepth: limits.jsonDepth });
  if (faults.length > 0) throw new DomainError('bad_request', 'invalid', { faults });
  return value;
}
