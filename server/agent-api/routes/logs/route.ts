import { createGunzip } from 'node:zlib';
import { outputQuery } from '#protocol/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { receiveOutput } from '#server/domain/logs/index.ts';
import { parse } from '#server/domain/parse.ts';
import { admit } from '../../authenticate.ts';
import { type AgentCall, contextOf } from '../../call.ts';

/**
 * `POST /agent/v1/logs/{extension}?command=&attempt=&sequence=`: stores a command's output, or with `Content-Range` a
 * part of it. Returns 204 with the number of contiguous bytes received from the start.
 */
export async function logs(call: AgentCall, match: RegExpExecArray): Promise<Response> {
  const { agent } = await admit(call);
  requireText(call.header('content-type'));
  const run = parse(outputQuery, Object.fromEntries(new URLSearchParams(call.query)), 'bad_request');
  const range = readRange(call.header('content-range'));
  const extension = match[1] ?? '';
  const input = { vmId: agent.vmId, extension, ...run, range };
  const { received } = await receiveOutput(contextOf(call, agent), input, unpacked(call));
  return new Response(null, { status: 204, headers: { 'annex-output-bytes': String(received) } });
}

function requireText(header: string | null): void {
  const type = header?.split(';', 1)[0]?.trim().toLowerCase();
  if (type === undefined || type === 'text/plain' || type === 'application/octet-stream') return;
  throw new DomainError('unsupported_media_type', 'media_type_unsupported', { params: { type: 'text/plain' } });
}

/** Parses `bytes 0-1023/4096`, or `bytes 0-1023/*` while the command may still write. Returns null without a header. */
export function readRange(header: string | null): { start: number; until: number; total: number | null } | null {
  if (header === null) return null;
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(header.trim());
  const [start, end] = [Number(match?.[1]), Number(match?.[2])];
  const total = match?.[3] === '*' ? null : Number(match?.[3]);
  if (!match || end < start || (total !== null && end >= total)) {
    throw new DomainError('bad_request', 'output_range');
  }
  return { start, until: end + 1, total };
}

/** Yields the body, decompressed as it arrives. Limits apply to the decompressed bytes. */
export async function* unpacked(call: AgentCall): AsyncGenerator<Uint8Array> {
  const encoding = call.header('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity') return yield* call.stream();
  if (encoding !== 'gzip') throw new DomainError('unsupported_media_type', 'encoding_unknown');
  const gunzip = createGunzip();
  const feeding = feed(call.stream(), gunzip);
  // If the agent disconnects, the reader of `gunzip` gets the error, so the error is ignored here.
  feeding.catch(() => {});
  try {
    yield* gunzip as AsyncIterable<Buffer>;
  } catch (error) {
    if (!isOfGzip(error)) throw error;
    throw new DomainError('bad_request', 'invalid', { faults: [{ path: '', code: 'gzip_broken' }], cause: error });
  } finally {
    gunzip.destroy();
    await feeding.catch(() => {});
  }
}

async function feed(body: AsyncIterable<Uint8Array>, gunzip: ReturnType<typeof createGunzip>): Promise<void> {
  try {
    for await (const chunk of body) {
      if (gunzip.destroyed) return;
      if (!gunzip.write(chunk))
        await new Promise<void>((resolve) => gunzip.once('drain', resolve).once('close', resolve));
    }
    gunzip.end();
  } catch (error) {
    gunzip.destroy(error as Error);
    throw error;
  }
}

const isOfGzip = (error: unknown): boolean =>
  error instanceof Error && /^Z_|^ERR_/.test(String((error as NodeJS.ErrnoException).code));
