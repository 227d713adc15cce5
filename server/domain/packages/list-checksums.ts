import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import yauzl from 'yauzl';
import type { Context } from '#server/domain/context.ts';
import type { BlobStore } from '#server/platform/blob-store.ts';

/** Reads byte ranges of a stored package for yauzl. */
class Bytes extends yauzl.RandomAccessReader {
  readonly #blobs: BlobStore;
  readonly #sha256: string;

  constructor(blobs: BlobStore, sha256: string) {
    super();
    this.#blobs = blobs;
    this.#sha256 = sha256;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    const stream = new PassThrough();
    this.#blobs
      .open(this.#sha256, { start, end: end - 1 })
      .then((blob) => {
        if (blob === null) throw new Error('the bytes of a registered package are missing');
        return pipeline(blob.stream, stream);
      })
      .catch((error: unknown) =>
        stream.destroy(error instanceof Error ? error : new Error('the package cannot be read')),
      );
    return stream;
  }
}

/**
 * Returns the CRC-32 checksum of every entry of an accepted package, by name. The checksums come from the directory of
 * the zip, so changed files can be found without unpacking. Empty if the stored package is missing.
 */
export async function listChecksums({ blobs }: Pick<Context, 'blobs'>, sha256: string): Promise<Map<string, number>> {
  const size = await blobs.size(sha256);
  if (size === null) return new Map();
  return new Promise((resolve, reject) => {
    const options = { lazyEntries: true, autoClose: false };
    yauzl.fromRandomAccessReader(new Bytes(blobs, sha256), size, options, (error, zip) => {
      if (error) return reject(error);
      const found = new Map<string, number>();
      zip.on('entry', (entry: yauzl.Entry) => {
        found.set(entry.fileName, entry.crc32);
        zip.readEntry();
      });
      zip.once('end', () => resolve(found));
      zip.once('error', reject);
      zip.readEntry();
    });
  });
}
