import { Readable } from 'node:stream';
import { DomainError } from '#server/domain/error.ts';
import { findPackageOfVm } from '#server/domain/goal-states/index.ts';
import { DamagedBlob } from '#server/platform/blob-store.ts';
import { admit, authenticate } from '../../authenticate.ts';
import type { AgentCall } from '../../call.ts';
import { downloads } from './download.ts';

/**
 * Digest of a package that does not exist. `agent doctor` requests it to check the credential, and sends no call
 * counter, because a second process with a counter would look like a second machine.
 */
const noPackage = '0'.repeat(64);

/**
 * `GET /agent/v1/packages/{sha256}`: returns a package or a range of its bytes, if the VM's own goal state names the
 * package.
 */
export async function packageBytes(call: AgentCall, match: RegExpExecArray): Promise<Response> {
  const sha256 = match[1] ?? '';
  const agent = sha256 === noPackage ? await authenticate(call) : (await admit(call)).agent;
  return sendPackage(call, agent.vmId, sha256);
}

/**
 * Sends a package that the VM's own goal state names. Throws 404 `package_absent` for any other package, 429
 * `downloads_waiting` if too many downloads are running, or 503 `package_damaged` if the package's file is missing or
 * has the wrong size. If the bytes turn out to be damaged, the transfer fails.
 */
export async function sendPackage(call: AgentCall, vmId: string, sha256: string): Promise<Response> {
  const { db, blobs, memory } = call.door.services;
  const size = await findPackageOfVm(db, vmId, sha256);
  if (size === null) throw new DomainError('not_found', 'package_absent');

  const etag = `"${sha256}"`;
  const headers = {
    etag,
    'accept-ranges': 'bytes',
    'content-type': 'application/zip',
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
    throw damaged(call, sha256);
  }
  blob.stream.once('error', (error) => {
    if (error instanceof DamagedBlob) damaged(call, sha256);
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

const retryAfter = 60;

/**
 * Logs which package is lost or damaged, and returns the error. The agent retries until the package is uploaded again.
 */
function damaged({ door, requestId }: AgentCall, sha256: string): DomainError {
  door.log.error({ requestId, sha256 }, 'the bytes of a package are lost or damaged: upload the same zip again');
  return new DomainError('unavailable', 'package_damaged', { retryAfter });
}

/**
 * Parses a single range of bytes; both ends are inclusive. Returns null without a supported range; the caller then
 * sends the whole package.
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
