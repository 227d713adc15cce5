import { removeUnusedBytes, usedBytes } from '#server/domain/packages/index.ts';
import type { Job } from '../job.ts';

/** Minimum age of blobs to delete, because bytes are stored before the row that references them is committed. */
const minimumAgeMs = 24 * 60 * 60_000;
const batchSize = 1_000;

/** Deletes blobs that no row references. A crash between storing a file and committing its row leaves them behind. */
export const clearBlobsJob: Job = {
  name: 'clear-blobs',
  periodSeconds: 60 * 60,
  statementTimeoutSeconds: 60,
  async run(ctx) {
    const old = await ctx.blobs.list(new Date(ctx.now.getTime() - minimumAgeMs));
    let cleared = 0;
    for (let start = 0; start < old.length && !ctx.signal.aborted; start += batchSize) {
      const batch = old.slice(start, start + batchSize);
      const used = await usedBytes(ctx.db, batch);
      for (const sha256 of batch.filter((each) => !used.has(each))) {
        await removeUnusedBytes(ctx, sha256);
        cleared++;
      }
    }
    return cleared;
  },
};
