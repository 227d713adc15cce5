import { and, desc, eq, lt } from 'drizzle-orm';
import { type ExtensionContents, goalStates } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { readNumberCursor, writeCursor } from '#server/domain/cursor.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type ListGoalStatesInput, listGoalStatesInput } from './input.ts';

/** One goal state of the past; protected settings appear as present or not. */
export interface PastGoalState {
  incarnation: number;
  etag: string;
  publishedAt: string;
  publishedBy: string;
  cause: { action: string; extension?: string; incarnation?: number };
  extensions: (Omit<ExtensionContents, 'secretId'> & { hasProtectedSettings: boolean })[];
}

/** The goal states of a VM, newest first; also of a VM that was deleted. Throws 404 `vm_unknown`. */
export async function listGoalStates(
  ctx: Context,
  input: ListGoalStatesInput,
): Promise<{ items: PastGoalState[]; nextCursor: string | null }> {
  allow(ctx.actor, 'operator');
  const { vmId, limit, cursor } = parse(listGoalStatesInput, input);
  const before = cursor === undefined ? undefined : readNumberCursor(cursor);
  const rows = await ctx.db
    .select()
    .from(goalStates)
    .where(and(eq(goalStates.vmId, vmId), before === undefined ? undefined : lt(goalStates.incarnation, before)))
    .orderBy(desc(goalStates.incarnation))
    .limit(limit + 1);
  if (rows.length === 0 && before === undefined) throw new DomainError('not_found', 'vm_unknown');
  const items = rows.slice(0, limit).map(pastGoalState);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? writeCursor([String(last.incarnation)]) : null };
}

/** A row of the history as people and scripts may read it: secrets as present or not. */
export function pastGoalState(row: typeof goalStates.$inferSelect): PastGoalState {
  const { incarnation, etag, publishedBy, cause } = row;
  return {
    incarnation,
    etag,
    publishedAt: row.publishedAt.toISOString(),
    publishedBy,
    cause,
    extensions: row.contents.map(({ secretId, ...contents }) => ({
      ...contents,
      hasProtectedSettings: secretId !== null,
    })),
  };
}
