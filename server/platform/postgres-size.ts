import { statfs } from 'node:fs/promises';
import { between, usableMemory } from './memory.ts';

const MiB = 1024 ** 2;
const GiB = 1024 * MiB;

/**
 * Settings of the embedded PostgreSQL that follow the machine: an eighth of its memory for buffers, taken as they are
 * used, so that the rows that a large fleet's reports rewrite stay there; and a sixteenth of the disk for the log between two
 * checkpoints, because after each one every page that is written is logged whole.
 */
export async function settingsBySize(
  folder: string,
): Promise<Record<'shared_buffers' | 'max_wal_size' | 'min_wal_size', string>> {
  const { blocks, bsize } = await statfs(folder);
  const log = between(GiB, (blocks * bsize) / 16, 4 * GiB);
  const megabytes = (bytes: number): string => `${Math.round(bytes / MiB)}MB`;
  return {
    shared_buffers: megabytes(between(128 * MiB, usableMemory() / 8, 4 * GiB)),
    max_wal_size: megabytes(log),
    min_wal_size: megabytes(log / 4),
  };
}
