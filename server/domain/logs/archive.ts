import { z } from 'zod';
import type { logArchives } from '#db/schema/index.ts';
import { count, time } from '#server/domain/answers.ts';
import { handlerId } from '#server/domain/packages/input.ts';

export type ArchiveRow = typeof logArchives.$inferSelect;

/** Hours within which an agent must send a requested archive. */
export const requestHours = 24;

/**
 * A request for a handler's log folders, and its result. `empty`: the machine has no such logs; `late`: the agent did
 * not send the logs within a day.
 */
export const archive = z.object({
  id: z.uuid(),
  handler: handlerId,
  state: z.enum(['asked', 'there', 'empty', 'late']),
  requestedAt: time,
  requestedBy: z.string(),
  answeredAt: time.nullable(),
  size: count.nullable(),
  form: z.enum(['tar.gz', 'zip']).nullable(),
});
export type Archive = z.infer<typeof archive>;

export function archiveOf(row: ArchiveRow, now: Date): Archive {
  const { id, handler, requestedAt, requestedBy, answeredAt, sha256, size, form } = row;
  const isLate = now.getTime() - requestedAt.getTime() > requestHours * 3_600_000;
  const state = answeredAt === null ? (isLate ? 'late' : 'asked') : sha256 === null ? 'empty' : 'there';
  return {
    ...{ id, handler, state, requestedBy, size, form },
    requestedAt: requestedAt.toISOString(),
    answeredAt: answeredAt?.toISOString() ?? null,
  };
}
