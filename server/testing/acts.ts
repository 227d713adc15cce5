import { asc, type SQL } from 'drizzle-orm';
import type { Database } from '#db/client.ts';
import { auditEntries } from '#db/schema/index.ts';

/** Returns the matching entries of the activity log, oldest first. */
export const readActs = (db: Pick<Database, 'select'>, where?: SQL) =>
  db.select().from(auditEntries).where(where).orderBy(asc(auditEntries.id));
