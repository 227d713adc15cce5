import { and, desc, eq, lt } from 'drizzle-orm';
import { goalStates } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { readNumberCursor, writeCursor } from '#server/domain/cursor.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { changesBetween, type GoalStateChange } from './changes.ts';
import { type ListGoalStatesInput, listGoalStatesInput } from './input.ts';

/** A goal state of the past without its contents: when, by whom, and what it changed. */
export interface PastChange {
  incarnation: number;
  publishedAt: string;
  publishedBy: string;
  cause: { action: string; extension?: string; incarnation?: number };
  /** Against the one before. */
  changes: GoalStateChange[];
}

/** What each goal state of a VM changed, newest first: a list for people, without settings. Throws 404 `vm_unknown`. */
export async function listGoalStateChanges(
  ctx: Context,
  input: ListGoalStatesInput,
): Promise<{ items: PastChange[]; nextCursor: string | null }> {
  allow(ctx.actor, 'operator');
  const { vmId, limit, cursor } = parse(listGoalStatesInput, input);
  const before = cursor === undefined ? undefined : readNumberCursor(cursor);
  const { incarnation, publishedAt, publishedBy, cause, contents } = goalStates;
  const rows = await ctx.db
    .select({ incarnation, publishedAt, publishedBy, cause, contents })
    .from(goalStates)
    .where(and(eq(goalStates.vmId, vmId), before === undefined ? undefined : lt(incarnation, before)))
    .orderBy(desc(incarnation))
    .limit(limit + 1);
  if (rows.length === 0 && before === undefined) throw new DomainError('not_found', 'vm_unknown');
  const items = rows.slice(0, limit).map(
    ({ contents, publishedAt, ...row }, index): PastChange => ({
      ...row,
      publishedAt: publishedAt.toISOString(),
      changes: changesBetween(rows[index + 1]?.contents ?? [], contents),
    }),
  );
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? writeCursor([String(last.incarnation)]) : null };
}
