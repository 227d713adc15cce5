import { and, eq } from 'drizzle-orm';
import { auditEntries } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type GetActInput, getActInput } from '../input.ts';
import { maySeeContents, visibleTo } from './activity-filter.ts';
import { type Difference, differencesOf } from './diff.ts';

/** What an entry of the activity log changed. */
export interface ActContents {
  id: number;
  requestId: string;
  differences: Difference[];
  /** Number of differences that are not listed. */
  more: number;
  /** Position in the chain; null for an entry that is not linked yet. */
  position: number | null;
  hash: string | null;
}

/**
 * Returns the differences between the values before and after an entry; none if the caller cannot see them. Throws 404
 * if the entry is unknown or the caller cannot see it.
 */
export async function getAct(ctx: Context, input: GetActInput): Promise<ActContents> {
  allow(ctx.actor, 'viewer');
  const { id } = parse(getActInput, input);
  const [row] = await ctx.db
    .select()
    .from(auditEntries)
    .where(and(eq(auditEntries.id, id), visibleTo(ctx.actor)));
  if (!row) throw new DomainError('not_found', 'act_unknown');
  const sees = maySeeContents(ctx.actor, row);
  const { items, more } = sees ? differencesOf(row.before, row.after) : { items: [], more: 0 };
  return {
    id,
    requestId: row.requestId,
    differences: items,
    more,
    position: row.position,
    hash: row.hash,
  };
}
