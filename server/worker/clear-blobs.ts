import type { Services } from '#server/domain/context.ts';
import { removeUnusedBytes, usedBytes } from '#server/domain/packages/index.ts';

/** Bytes arrive before the row that refers to them is committed. */
const youngMs = 24 * 60 * 60_000;
const atOnce = 1_000;

/** Removes bytes that nothing refers to: left by a crash between file and row. */
export async function clearBlobs(services: Services, now: Date): Promise<number> {
  const { blobs, db } = services;
  const old = await blobs.list(new Date(now.getTime() - youngMs));
  let cleared = 0;
  for (let start = 0; start < old.length; start += atOnce) {
    const some = old.slice(start, start + atOnce);
    const used = await usedBytes(db, some);
    for (const sha256 of some.filter((one) => !used.has(one))) {
      await removeUnusedBytes(services, sha256);
      cleared++;
    }
  }
  return cleared;
}
