import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { outputPieces } from '#db/schema/index.ts';
import { startOfError } from '#protocol/index.ts';
import { type BlobStore, DamagedBlob } from '#server/platform/blob-store.ts';

const pack = promisify(gzip);
const unpack = promisify(gunzip);

/** Maximum bytes per piece of an output. */
export const pieceBytes = 1024 * 1024;

/** A piece of an output. `path` is its compressed file until the piece is in the blob store. */
export interface Piece extends Omit<typeof outputPieces.$inferSelect, 'vmId' | 'outputId'> {
  path: string | null;
}

/** Splits a stream into pieces of `pieceBytes`, with only one in memory. The last piece may be smaller. */
export async function* cut(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  // A buffer of fixed size per piece, because a sender may send very small chunks.
  let held = Buffer.allocUnsafe(pieceBytes);
  let size = 0;
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + pieceBytes - size);
      held.set(part, size);
      at += part.length;
      size += part.length;
      if (size < pieceBytes) continue;
      yield held;
      held = Buffer.allocUnsafe(pieceBytes);
      size = 0;
    }
  }
  if (size > 0) yield held.subarray(0, size);
}

/** Compresses a piece into a temporary file, and records what is needed to find lines in the piece. */
export async function packPiece(blobs: BlobStore, raw: Buffer, start: number): Promise<Piece> {
  const packed = await pack(raw);
  const path = await blobs.temporaryPath();
  await writeFile(path, packed, { flag: 'wx', mode: 0o600 }).catch(async (error: unknown) => {
    // The caller does not know the path yet and so cannot delete the file. Leftovers of failed writes could fill the
    // disk.
    await rm(path, { force: true });
    throw error;
  });
  const sha256 = createHash('sha256').update(packed).digest('hex');
  return { start, until: start + raw.length, sha256, ...measure(raw), path };
}

/**
 * Thrown if the bytes of a piece are missing or damaged, usually because it was merged into another piece, or deleted
 * with its output, since it was looked up.
 */
export class PieceGone extends Error {
  override readonly name = 'PieceGone';
}

/** Returns the bytes of a piece as the command wrote them. Throws PieceGone. */
export async function bytesOf(
  blobs: BlobStore,
  piece: Pick<Piece, 'start' | 'until' | 'sha256' | 'path'>,
): Promise<Buffer> {
  // One chunk with room for all bytes. With the default of 16 KiB, unpacking a piece takes five times as long.
  const inOneChunk = { chunkSize: Math.max(1024, piece.until - piece.start + 1) };
  if (piece.path !== null) return unpack(await readFile(piece.path), inOneChunk);
  const blob = await blobs.open(piece.sha256);
  if (blob === null) throw new PieceGone(`the bytes of ${piece.sha256} are missing`);
  try {
    return await unpack(await buffer(blob.stream), inOneChunk);
  } catch (error) {
    if (error instanceof DamagedBlob) throw new PieceGone(error.message);
    throw error;
  }
}

const lineEnd = 0x0a;

function measure(raw: Buffer): Pick<Piece, 'lines' | 'endsLine' | 'errorLine'> {
  // Decoding each byte as one character is enough, because the words that name errors are ASCII.
  const error = startOfError(raw.toString('latin1'));
  return {
    lines: lineEndsIn(raw),
    endsLine: raw.at(-1) === lineEnd,
    errorLine: error === null ? null : lineEndsIn(raw.subarray(0, error)),
  };
}

/**
 * Counts line breaks in a plain loop, because one `indexOf` call per line would cost more if most bytes are line
 * breaks.
 */
function lineEndsIn(raw: Buffer): number {
  let count = 0;
  for (let at = 0; at < raw.length; at++) if (raw[at] === lineEnd) count += 1;
  return count;
}
