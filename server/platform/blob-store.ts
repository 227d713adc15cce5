import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream';
import { v7 as uuid } from 'uuid';

/** Offsets of the first and the last byte of a range, both inclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface OpenBlob {
  stream: Readable;
  /** Size of the complete blob in bytes, even if only a range is read. */
  size: number;
}

/**
 * Thrown if stored bytes do not match their digest. The damaged file is moved aside, unless a new file has already
 * replaced it.
 */
export class DamagedBlob extends Error {
  override readonly name = 'DamagedBlob';

  constructor(sha256: string) {
    super(`the stored bytes of ${sha256} are damaged`);
  }
}

/** A store of content-addressed bytes. Everything that references a digest shares its bytes. */
export interface BlobStore {
  /** Returns a path at which to create a file for `putFile`. */
  temporaryPath(): Promise<string>;
  /** Moves a finished file to the path of its digest, and flushes it to disk. The bytes may already be stored. */
  putFile(path: string, sha256: string): Promise<void>;
  /**
   * Opens a blob or a range of it. Returns null if the blob does not exist. A range must be within the size. A whole
   * blob is verified while it is read: if the digest does not match, the stream fails with `DamagedBlob` before the
   * last chunk.
   */
  open(sha256: string, range?: ByteRange): Promise<OpenBlob | null>;
  /** Returns the size of a blob in bytes; null if it does not exist. */
  size(sha256: string): Promise<number | null>;
  remove(sha256: string): Promise<void>;
  /** Updates the times of temporary files that are still needed, so that `clearTemporary` keeps them. */
  keepTemporary(paths: readonly string[]): Promise<void>;
  /**
   * Deletes temporary files that a crash left behind: those last modified before `olderThan`. Returns the number of
   * deleted files.
   */
  clearTemporary(olderThan: Date): Promise<number>;
  /** Lists the digests of all blobs stored before `before`. */
  list(before: Date): Promise<string[]>;
}

const digest = /^[0-9a-f]{64}$/;

/** Stores blobs as files below `root` (`ab/<sha256>`), private to this user. */
export function openBlobStore(root: string): BlobStore {
  const temporary = join(root, 'incoming');

  const pathOf = (sha256: string): string => {
    if (!digest.test(sha256)) throw new RangeError('not a SHA-256 digest');
    return join(root, sha256.slice(0, 2), sha256);
  };

  const setAside = async (sha256: string, ino: number): Promise<void> => {
    // A valid file may have replaced the damaged file since the damaged file was opened.
    if ((await stat(pathOf(sha256)).catch(absent))?.ino !== ino) return;
    const folder = join(root, 'damaged');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await rename(pathOf(sha256), join(folder, sha256)).catch(absent);
  };

  return {
    async temporaryPath() {
      await mkdir(temporary, { recursive: true, mode: 0o700 });
      return join(temporary, uuid());
    },

    async putFile(path, sha256) {
      const target = pathOf(sha256);
      const folder = join(root, sha256.slice(0, 2));
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await sync(path);
      await rename(path, target);
      await sync(folder);
    },

    async open(sha256, range) {
      const handle = await open(pathOf(sha256), 'r').catch(absent);
      if (handle === null) return null;
      const { size, ino } = await handle.stat();
      const bytes = createReadStream('', { fd: handle, ...range, autoClose: true });
      if (range !== undefined) return { stream: bytes, size };
      // The callback ignores errors, because the stream's reader gets them too.
      return { stream: pipeline(bytes, new Verification(sha256, () => setAside(sha256, ino)), () => {}), size };
    },

    async size(sha256) {
      return (await stat(pathOf(sha256)).catch(absent))?.size ?? null;
    },

    async remove(sha256) {
      await rm(pathOf(sha256), { force: true });
    },

    async keepTemporary(paths) {
      const now = new Date();
      for (const path of paths) await utimes(path, now, now).catch(absent);
    },

    async clearTemporary(olderThan) {
      let cleared = 0;
      for (const name of (await readdir(temporary).catch(absent)) ?? []) {
        const path = join(temporary, name);
        const file = await stat(path).catch(absent);
        if (file === null || file.mtime >= olderThan) continue;
        await rm(path, { force: true });
        cleared++;
      }
      return cleared;
    },

    async list(before) {
      const found: string[] = [];
      for (const folder of (await readdir(root).catch(absent)) ?? []) {
        if (!/^[0-9a-f]{2}$/.test(folder)) continue;
        for (const name of await readdir(join(root, folder))) {
          const file = digest.test(name) ? await stat(join(root, folder, name)).catch(absent) : null;
          if (file !== null && file.mtime < before) found.push(name);
        }
      }
      return found;
    },
  };
}

/** Passes bytes through, but holds back the last chunk until the digest has been verified. */
class Verification extends Transform {
  readonly #sha256: string;
  readonly #setAside: () => Promise<void>;
  readonly #hash = createHash('sha256');
  #last: Buffer | null = null;

  constructor(sha256: string, setAside: () => Promise<void>) {
    super();
    this.#sha256 = sha256;
    this.#setAside = setAside;
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.#hash.update(chunk);
    if (this.#last !== null) this.push(this.#last);
    this.#last = chunk;
    done();
  }

  override _flush(done: TransformCallback): void {
    if (this.#hash.digest('hex') === this.#sha256) {
      done(null, this.#last);
      return;
    }
    const fail = (): void => done(new DamagedBlob(this.#sha256));
    this.#setAside().then(fail, fail);
  }
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

/** Flushes a file or a folder to disk. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
