import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { DomainError } from '#server/domain/error.ts';
import { parseJson } from '#server/platform/json.ts';
import type { AgentCall } from './call.ts';

const unpack = promisify(gunzip);

/**
 * Reads a JSON body, which may be gzipped. The body may be at most `limit` bytes long, both before and after
 * decompression. Calls `onRead` with the decompressed size before parsing. Throws 413 `report_too_large`, 415
 * `encoding_unknown`, or 400 `invalid` with the faults of the body.
 */
export async function readJson(
  call: AgentCall,
  limit: number,
  oddities: 'refuse' | 'repair' = 'refuse',
  onRead?: (bytes: number) => void,
): Promise<{ value: unknown; bytes: number }> {
  const bytes = await readUnpacked(call, limit);
  onRead?.(bytes.byteLength);
  const { value, faults } = parseJson(bytes, { maxDepth: call.door.services.config.limits.jsonDepth, oddities });
  if (faults.length > 0) throw new DomainError('bad_request', 'invalid', { faults });
  return { value, bytes: bytes.byteLength };
}

/** Reads a body of UTF-8 text, which may be gzipped. Throws 413 with the given code if the text exceeds the limit. */
export async function readText(call: AgentCall, limit: number, code: 'result_too_large'): Promise<string> {
  try {
    return (await readUnpacked(call, limit)).toString();
  } catch (error) {
    const isTooLarge = error instanceof DomainError && error.kind === 'too_large';
    throw isTooLarge ? new DomainError('too_large', code, { params: { limit } }) : error;
  }
}

async function readUnpacked(call: AgentCall, limit: number): Promise<Buffer> {
  const encoding = call.header('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'gzip' && encoding !== 'identity')
    throw new DomainError('unsupported_media_type', 'encoding_unknown');
  const packed = await call.readBytes(limit);
  return encoding === 'gzip' ? inflate(packed, limit) : packed;
}

export const tooLarge = (limit: number): DomainError =>
  new DomainError('too_large', 'report_too_large', { params: { limit } });

async function inflate(packed: Buffer, limit: number): Promise<Buffer> {
  try {
    return await unpack(packed, { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit);
    throw new DomainError('bad_request', 'invalid', { faults: [{ path: '', code: 'gzip_broken' }], cause: error });
  }
}
