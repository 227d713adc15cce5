import { z } from 'zod';
import type { runbookFiles } from '#db/schema/index.ts';
import { count, sha256, time } from '#server/domain/answers.ts';

export type RunbookFileRow = typeof runbookFiles.$inferSelect;

/** A file that execution plans name by its id. */
export const runbookFile = z.object({
  id: z.string(),
  sha256,
  size: count,
  revision: z.int().min(1).describe('Revision number of the contents, from 1.'),
  storedAt: time,
  storedBy: z.string(),
});
export type RunbookFile = z.infer<typeof runbookFile>;

export function runbookFileOf({ storedAt, ...row }: RunbookFileRow): RunbookFile {
  return { ...row, storedAt: storedAt.toISOString() };
}
