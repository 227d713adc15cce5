import { and, desc, type SQL, sql } from 'drizzle-orm';
import { auditEntries } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { columns, type StoredAct } from './columns.ts';

/** An entry, and whether it has values before or after the action. */
export type FoldedAct = StoredAct & { hasContents: boolean };

/** A position in the list of entries, newest first. */
export interface ActPlace {
  at: string;
  id: string;
}

/** Consecutive entries of one actor with the same action and kind of target, newest first. */
export interface ActFold {
  first: FoldedAct;
  last: FoldedAct;
  count: number;
  vmIds: Set<string>;
  targetIds: Set<string>;
}

/** Maximum time between the first and the last entry of a fold, in milliseconds. */
const foldMs = 10 * 60_000;
/**
 * Entries per statement. Most pages need one statement. A statement can cost the same whatever its limit, so later
 * statements read more.
 */
const batches = [250, 1_000, 3_750];

/** Returns the condition for the entries after a position in the list. */
export const actsAfter = (place: ActPlace | undefined): SQL | undefined =>
  place && sql`(${auditEntries.at}, ${auditEntries.id}) < (${place.at}::timestamptz, ${place.id}::bigint)`;

/** Returns the position of an entry. */
export const placeOfAct = (row: StoredAct): ActPlace => ({ at: row.at.toISOString(), id: String(row.id) });

interface FoldedPage {
  after: ActPlace | undefined;
  limit: number;
  /** A time that no fold crosses. */
  mark: string | undefined;
}

/**
 * Reads entries until `limit` folds are complete, so that a fold never continues on the next page. After 5,000 entries,
 * the last fold is cut off.
 */
export async function readActFolds(
  ctx: Context,
  matches: SQL | undefined,
  { after, limit, mark }: FoldedPage,
): Promise<ActFold[]> {
  const markAt = mark === undefined ? 0 : Date.parse(mark);
  const folds: ActFold[] = [];
  let place = after;
  for (const atOnce of batches) {
    if (folds.length > limit) break;
    const rows: FoldedAct[] = await ctx.db
      .select({
        ...columns,
        hasContents: sql<boolean>`${auditEntries.before} is not null or ${auditEntries.after} is not null`,
      })
      .from(auditEntries)
      .where(and(matches, actsAfter(place)))
      .orderBy(desc(auditEntries.at), desc(auditEntries.id))
      .limit(atOnce);
    for (const row of rows) addTo(folds, row, markAt);
    const last = rows.at(-1);
    if (rows.length < atOnce || last === undefined) break;
    place = placeOfAct(last);
  }
  return folds.slice(0, limit);
}

function addTo(folds: ActFold[], row: FoldedAct, markAt: number): void {
  let fold = folds.at(-1);
  if (fold === undefined || !isAlike(fold.first, row, markAt)) {
    fold = { first: row, last: row, count: 0, vmIds: new Set(), targetIds: new Set() };
    folds.push(fold);
  }
  fold.last = row;
  fold.count += 1;
  fold.targetIds.add(row.targetId);
  if (row.vmId !== null) fold.vmIds.add(row.vmId);
}

const isAlike = (first: StoredAct, row: StoredAct, markAt: number): boolean =>
  first.at.getTime() > markAt === row.at.getTime() > markAt &&
  first.actorKind === row.actorKind &&
  first.actorId === row.actorId &&
  first.action === row.action &&
  first.targetKind === row.targetKind &&
  first.at.getTime() - row.at.getTime() <= foldMs;
