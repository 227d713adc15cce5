import type { logArchives } from '#db/schema/index.ts';

export type ArchiveRow = typeof logArchives.$inferSelect;

/** Hours for which an agent is asked for an archive. */
export const requestHours = 24;

/**
 * A request for the log folders of a handler, and its result: `empty` if the machine has none, `late` if the agent did
 * not send them within a day.
 */
export interface Archive {
  id: string;
  handler: string;
  state: 'asked' | 'there' | 'empty' | 'late';
  requestedAt: string;
  requestedBy: string;
  answeredAt: string | null;
  size: number | null;
  form: 'tar.gz' | 'zip' | null;
}

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
