import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Fault } from '#server/domain/error.ts';
import type { Limits } from '#server/platform/limits.ts';
import { readContents } from './contents.ts';
import { type DirectoryEntry, readDirectory } from './directory.ts';
import { readEndRecord } from './end-record.ts';
import { readLocalHeader } from './local-header.ts';

type NestedFault = Pick<Fault, 'code' | 'params'>;

/** Number of levels of nested archives that are inspected. Three levels are common (`.ear`, `.war`, `.jar`). */
const deepest = 4;
const signature = 'PK\u0003\u0004';
/** Unpacked size that one archive, or all archives together, may declare at any compression ratio. */
const floor = 1024 * 1024;

/** Thrown to stop unpacking an entry whose first bytes are not those of an archive. */
class NoArchive extends Error {}

/** Inspects the bytes of one entry as they are read. */
export interface Watch {
  take(chunk: Buffer): void;
  /** True once the first bytes have shown that the entry is not an archive. */
  isNone(): boolean;
  /** Call it after the last byte. Returns the archive's fault; null if there is none. */
  finish(): Promise<NestedFault | null>;
}

/**
 * Inspects archives inside a package. They are regular files, which agents do not unpack, but a zip bomb is never
 * legitimate. The sum of the sizes that they declare, on all levels, must stay within the package's limits.
 */
export class NestedArchives {
  private readonly path: string;
  private readonly limits: Limits;
  private readonly most: number;
  private declared = 0;
  private made = 0;

  /** `size`: bytes of the whole package. */
  constructor(path: string, size: number, limits: Limits) {
    this.path = path;
    this.limits = limits;
    this.most = Math.min(limits.package.unpackedBytes, Math.max(floor, limits.package.ratio * size));
  }

  /** Returns a watch for one entry at this level of nesting. */
  watch(depth = 1): Watch {
    const path = `${this.path}.nested-${this.made++}`;
    let head = Buffer.alloc(0);
    let fd: number | null = null;
    const write = (bytes: Buffer): void => {
      for (let at = 0; fd !== null && at < bytes.length; ) at += writeSync(fd, bytes, at);
    };
    return {
      take: (chunk) => {
        if (fd !== null) return write(chunk);
        if (head.length >= 4) return;
        head = Buffer.concat([head, chunk]);
        if (head.length >= 4 && head.toString('latin1', 0, 4) === signature) {
          fd = openSync(path, 'wx', 0o600);
          write(head);
        }
      },
      isNone: () => fd === null && head.length >= 4,
      finish: async () => {
        if (fd === null) return null;
        closeSync(fd);
        fd = null;
        try {
          return await this.look(path, depth);
        } finally {
          rmSync(path, { force: true });
        }
      },
    };
  }

  /** Returns the fault of an archive; null if it has none, or if the file cannot be read as an archive. */
  private async look(path: string, depth: number): Promise<NestedFault | null> {
    const handle = await open(path, 'r');
    try {
      const { size } = await handle.stat();
      const end = readEndRecord(handle.fd, size);
      if ('code' in end) return null;
      if (end.entries > this.limits.package.entries) return { code: 'nested_bomb' };
      const directory = readDirectory(handle.fd, end, this.limits.package.entries);
      if (!Array.isArray(directory)) return null;
      const declared = directory.reduce((sum, entry) => sum + entry.unpacked, 0);
      if (declared > Math.max(floor, this.limits.package.ratio * size)) return { code: 'nested_bomb' };
      this.declared += declared;
      if (this.declared > this.most) return { code: 'nested_bomb' };
      if (depth >= deepest) return null;
      return await this.lookInside(handle.fd, directory, depth);
    } finally {
      await handle.close();
    }
  }

  private async lookInside(
    fd: number,
    directory: readonly DirectoryEntry[],
    depth: number,
  ): Promise<NestedFault | null> {
    for (const entry of directory) {
      if ((entry.method !== 0 && entry.method !== 8) || (entry.flags & 1) !== 0) continue;
      const local = readLocalHeader(fd, entry);
      if ('differs' in local) continue;
      const archive = this.watch(depth + 1);
      await readContents(fd, entry, local.dataStart, (chunk) => {
        archive.take(chunk);
        if (archive.isNone()) throw new NoArchive();
      }).catch((error: unknown) => {
        if (!(error instanceof NoArchive)) throw error;
      });
      const inside = await archive.finish();
      if (inside !== null) return inside;
    }
    return null;
  }
}
