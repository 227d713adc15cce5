import { statfs } from 'node:fs/promises';
import { between, usableMemory } from './memory.ts';

const MiB = 1024 ** 2;
const GiB = 1024 * MiB;

/**
 * Returns the settings of the embedded PostgreSQL that depend on the machine, within limits. Buffers get an eighth of
 * the memory, so that the rows updated by a large fleet's reports stay in memory. WAL gets a sixteenth of the disk, so
 * that checkpoints are rare: after each checkpoint, the first change to a page logs the whole page.
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
