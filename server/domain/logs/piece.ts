import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { outputPieces } from '#db/schema/index.ts';
import { namesError } from '#protocol/index.ts';
import type { BlobStore } from '#server/platform/blob-store.ts';

const pack = promisify(gzip);
const unpack = promisify(gunzip);

/** Bytes of an output that are kept together. */
export const pieceBytes = 1024 * 1024;

/** A part of an output; `path` is its packed file where the blob store does not have it yet. */
export interface Piece extends Omit<typeof outputPieces.$inferSelect, 'vmId' | 'outputId'> {
  path: string | null;
}

/** Cuts a stream into pieces of equal size; only one of them is in memory. */
export async function* cut(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of body) {
    held = held.length === 0 ? Buffer.from(chunk) : Buffer.concat([held, chunk]);
    for (; held.length >= pieceBytes; held = held.subarray(pieceBytes)) yield held.subarray(0, pieceBytes);
  }
  if (held.length > 0) yield held;
}

/** Packs a part into a temporary file, and notes what is needed to find lines in it. */
export async function packPiece(blobs: BlobStore, raw: Buffer, start: number): Promise<Piece> {
  const packed = await pack(raw);
  const path = await blobs.temporaryPath();
  await writeFile(path, packed, { flag: 'wx', mode: 0o600 });
  const sha256 = createHash('sha256').update(packed).digest('hex');
  return { start, until: start + raw.length, sha256, ...measure(raw), path };
}

/** The bytes of a piece as the command wrote them. */
export async function bytesOf(blobs: BlobStore, piece: Pick<Piece, 'sha256' | 'path'>): Promise<Buffer> {
  if (piece.path !== null) return unpack(await readFile(piece.path));
  const blob = await blobs.open(piece.sha256);
  if (blob === null) throw new Error(`the bytes of ${piece.sha256} are gone`);
  return unpack(await buffer(blob.stream));
}

const lineEnd = 0x0a;

function measure(raw: Buffer): Pick<Piece, 'lines' | 'endsLine' | 'errorLine'> {
  let lines = 0;
  let errorLine: number | null = null;
  for (let from = 0; from < raw.length; ) {
    const end = raw.indexOf(lineEnd, from);
    const until = end < 0 ? raw.length : end;
    if (errorLine === null && namesError(raw.toString('utf8', from, Math.min(until, from + 2_000)))) errorLine = lines;
    if (end < 0) break;
    lines += 1;
    from = end + 1;
  }
  return { lines, endsLine: raw.at(-1) === lineEnd, errorLine };
}
