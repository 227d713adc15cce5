import { and, desc, eq, lt } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { handlerVersions } from '#db/schema/index.ts';
import type { VersionRow } from './find-version.ts';

/**
 * Returns the previous version: the highest published version below the given version; null if there is none. Drafts
 * and withdrawn versions do not count.
 */
export async function findPreviousVersion(
  tx: Database | Transaction,
  { handler, versionKey }: Pick<VersionRow, 'handler' | 'versionKey'>,
): Promise<VersionRow | null> {
  const [row] = await tx
    .select()
    .from(handlerVersions)
    .where(
      and(
        eq(handlerVersions.handler, handler),
        eq(handlerVersions.state, 'published'),
        lt(handlerVersions.versionKey, versionKey),
      ),
    )
    .orderBy(desc(handlerVersions.versionKey))
    .limit(1);
  return row ?? null;
}
