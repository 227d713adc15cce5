import { readSync } from 'node:fs';
import { Readable } from 'node:stream';
import { crc32, createInflateRaw, type InflateRaw, inflateRawSync } from 'node:zlib';
import type { Fault } from '#server/domain/error.ts';
import type { DirectoryEntry } from './directory.ts';

type ContentFault = Pick<Fault, 'code' | 'params'>;

/**
 * Maximum compressed and uncompressed size of entries that are read in one call. Packages often have thousands of small
 * files.
 */
const onePiece = 1024 * 1024;

/**
 * Unpacks an entry without storing it. Checks the entry's real size and checksum, and that no bytes follow the
 * compressed data. `take` receives the bytes as they are read. Needs about 2 MiB of memory at most.
 */
export async function readContents(
  fd: number,
  entry: DirectoryEntry,
  dataStart: number,
  take: (chunk: Buffer) => void,
): Promise<ContentFault | null> {
  const meter = new Meter(entry, take);
  try {
    const consumed =
      entry.packed <= onePiece && entry.unpacked <= onePiece
        ? readAtOnce(fd, entry, dataStart, meter)
        : await readStreamed(fd, entry, dataStart, meter);
    return consumed < entry.packed ? { code: 'entry_hidden' } : meter.verdict();
  } catch (error) {
    if (error instanceof TooLarge || (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      return { code: 'entry_size', params: { declared: entry.unpacked } };
    }
    if (/^(Z_|ERR_Z)/.test((error as NodeJS.ErrnoException).code ?? '')) return { code: 'entry_data' };
    throw error;
  }
}

class TooLarge extends Error {}

class Meter {
  private readonly entry: DirectoryEntry;
  private readonly take: (chunk: Buffer) => void;
  private size = 0;
  private checksum = 0;

  constructor(entry: DirectoryEntry, take: (chunk: Buffer) => void) {
    this.entry = entry;
    this.take = take;
  }

  add(chunk: Buffer): void {
    this.size += chunk.length;
    if (this.size > this.entry.unpacked) throw new TooLarge();
    this.checksum = crc32(chunk, this.checksum);
    this.take(chunk);
  }

  verdict(): ContentFault | null {
    if (this.size !== this.entry.unpacked) return { code: 'entry_size', params: { declared: this.entry.unpacked } };
    return this.checksum === this.entry.crc32 ? null : { code: 'entry_checksum' };
  }
}

/** Reads the entry in one call. Returns the number of compressed bytes used. */
function readAtOnce(fd: number, entry: DirectoryEntry, dataStart: number, meter: Meter): number {
  const packed = Buffer.alloc(entry.packed);
  readSync(fd, packed, 0, packed.length, dataStart);
  if (entry.method === 0) {
    meter.add(packed);
    return packed.length;
  }
  const { buffer, engine } = inflateRawSync(packed, {
    maxOutputLength: Math.max(1, entry.unpacked),
    info: true,
  }) as unknown as { buffer: Buffer; engine: InflateRaw };
  meter.add(buffer);
  return engine.bytesWritten;
}

/** Reads the entry in chunks. Does not use a `node:fs` stream, which would close the file. */
async function readStreamed(fd: number, entry: DirectoryEntry, dataStart: number, meter: Meter): Promise<number> {
  const pieces = readPieces(fd, dataStart, entry.packed);
  if (entry.method === 0) {
    for (const piece of pieces) meter.add(piece);
    return entry.packed;
  }
  const inflate = createInflateRaw();
  const packed = Readable.from(pieces);
  packed.once('error', (error) => inflate.destroy(error));
  packed.pipe(inflate);
  try {
    for await (const chunk of inflate) meter.add(chunk as Buffer);
    return inflate.bytesWritten;
  } finally {
    packed.destroy();
  }
}

function* readPieces(fd: number, start: number, length: number): Generator<Buffer> {
  for (let at = 0; at < length; ) {
    const piece = Buffer.alloc(Math.min(256 * 1024, length - at));
    const read = readSync(fd, piece, 0, piece.length, start + at);
    if (read === 0) return;
    at += read;
    yield piece.subarray(0, read);
  }
}
