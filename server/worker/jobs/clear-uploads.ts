import type { Job } from '../job.ts';

/** Age at which a temporary file counts as abandoned. Uploads in progress write more often than this. */
const idleMs = 2 * 60 * 60_000;

/** Deletes temporary files of abandoned uploads. */
export const clearUploadsJob: Job = {
  name: 'clear-uploads',
  periodSeconds: 10 * 60,
  statementTimeoutSeconds: 15,
  run: ({ blobs, now }) => blobs.clearTemporary(new Date(now.getTime() - idleMs)),
};
