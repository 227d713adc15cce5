import { and, desc, eq, lt, lte, or, sql } from 'drizzle-orm';
import { goalStates } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { bytesBefore, maxListBytes, rowsFound } from '#server/domain/list-bytes.ts';

/**
 * Loads up to `limit` + 1 goal states of a VM, newest first. If they have too many bytes, loads fewer, but at least two
 * if the VM has two, because the first is compared with the second. `rowsFound` is the number of goal states before
 * this truncation.
 */
export async function loadPastPage(
  { db }: Pick<Context, 'db'>,
  { vmId, before, limit }: { vmId: string; before: number | undefined; limit: number },
) {
  const { incarnation, etag, contents, cause, publishedAt, publishedBy } = goalStates;
  const page = db
    .select({ incarnation, etag, contents, cause, publishedAt, publishedBy })
    .from(goalStates)
    .where(and(eq(goalStates.vmId, vmId), before === undefined ? undefined : lt(incarnation, before)))
    .orderBy(desc(incarnation))
    .limit(limit + 1)
    .as('page');
  const newest = sql`${desc(page.incarnation)}`;
  const sized = db
    .select({
      incarnation: page.incarnation,
      etag: page.etag,
      contents: page.contents,
      cause: page.cause,
      publishedAt: page.publishedAt,
      publishedBy: page.publishedBy,
      bytesBefore: bytesBefore(page.contents, newest),
      place: sql<number>`row_number() over (order by ${newest})`.as('place'),
      rowsFound,
    })
    .from(page)
    .as('sized');
  return db
    .select()
    .from(sized)
    .where(or(lt(sized.bytesBefore, maxListBytes), lte(sized.place, 2)))
    .orderBy(desc(sized.incarnation));
}
