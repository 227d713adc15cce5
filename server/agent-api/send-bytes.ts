import { Readable } from 'node:stream';
import type { DomainError } from '#server/domain/error.ts';
import { DamagedBlob } from '#server/platform/blob-store.ts';
import type { AgentCall } from './call.ts';
import { downloads } from './routes/packages/download.ts';

/** Bytes that the portal stores for a VM's machine. */
export interface StoredBytes {
  sha256: string;
  size: number;
  type: string;
  /** Logs that the bytes are missing or damaged, and returns the error for the machine. */
  damaged(): DomainError;
}

/**
 * Sends stored bytes or a range of them. Throws 429 `downloads_waiting` if too many downloads of the VM are running,
 * and the error of `damaged` if the bytes are missing or have the wrong size. If the bytes turn out to be damaged, the
 * transfer fails.
 */
export async function sendBytes(
  call: AgentCall,
  vmId: string,
  { sha256, size, type, damaged }: StoredBytes,
): Promise<Response> {
  const { blobs, memory } = call.door.services;
  const etag = `"${sha256}"`;
  const headers = {
    etag,
    'accept-ranges': 'bytes',
    'content-type': type,
    'repr-digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`,
    'cache-control': 'private, immutable, max-age=31536000',
  };
  if (call.header('if-none-match') === etag) return new Response(null, { status: 304, headers });
  const ifRange = call.header('if-range');
  const range = ifRange === null || ifRange === etag ? readRange(call.header('range'), size) : null;
  if (range === 'unsatisfiable') {
    return new Response(null, { status: 416, headers: { ...headers, 'content-range': `bytes */${size}` } });
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  // A range that covers all bytes is read like the whole file, because only complete reads are verified.
  const part = end - start + 1 === size ? undefined : { start, end };
  const blob = await memory.of(downloads).open(vmId, () => blobs.open(sha256, part));
  if (blob?.size !== size) {
    blob?.stream.destroy();
    throw damaged();
  }
  blob.stream.once('error', (error) => {
    if (error instanceof DamagedBlob) damaged();
  });
  return new Response(Readable.toWeb(blob.stream) as ReadableStream<Uint8Array>, {
    status: range ? 206 : 200,
    headers: {
      ...headers,
      'content-length': String(end - start + 1),
      ...(range && { 'content-range': `bytes ${start}-${end}/${size}` }),
    },
  });
}

/**
 * Parses a single range of bytes; both ends are inclusive. Returns null if the header has no supported range; the
 * caller then sends all bytes.
 */
function readRange(header: string | null, size: number): { start: number; end: number } | 'unsatisfiable' | null {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '');
  if (!match || (match[1] === '' && match[2] === '')) return null;
  if (match[1] === '') {
    const last = Number(match[2]);
    return last === 0 ? 'unsatisfiable' : { start: Math.max(0, size - last), end: size - 1 };
  }
  const start = Number(match[1]);
  const end = match[2] === '' ? size - 1 : Math.min(Number(match[2]), size - 1);
  if (start >= size) return 'unsatisfiable';
  return end < start ? null : { start, end };
}
