import { randomUUID } from 'node:crypto';
import { logArchives } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';

type ArchiveRow = typeof logArchives.$inferInsert;

/** Inserts a log request with these values. */
export async function givenArchive(
  { db }: Services,
  vmId: string,
  given: Partial<ArchiveRow> = {},
): Promise<{ id: string }> {
  const id = given.id ?? randomUUID();
  const row = { vmId, handler: 'Acme.Lab.Probe', requestedAt: new Date(), requestedBy: 'Ada', ...given, id };
  await db.insert(logArchives).values(row);
  return { id };
}
