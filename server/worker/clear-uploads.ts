import type { Services } from '#server/domain/context.ts';

/** An upload that is still under way writes more often. */
const idleMs = 2 * 60 * 60_000;

/** Removes what uploads left behind that were cut off with their process. */
export async function clearUploads({ blobs }: Services, now: Date): Promise<number> {
  return blobs.clearTemporary(new Date(now.getTime() - idleMs));
}
