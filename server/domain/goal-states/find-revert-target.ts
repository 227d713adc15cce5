import { and, desc, eq, sql } from 'drizzle-orm';
import { goalStates } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { revertTarget } from './changes.ts';
import { type GetExtensionInput, getExtensionInput } from './input.ts';
import { retryCause } from './repeat-extension.ts';

/**
 * Maximum number of goal states to search, from the newest. Retries do not count, because a retry changes no contents.
 */
const searchedStates = 50;

/** Finds the goal state to revert to when an extension fails with its current contents; null if there is none. */
export async function findRevertTarget(
  ctx: Context,
  input: GetExtensionInput,
): Promise<{ incarnation: number | null }> {
  allow(ctx.actor, 'operator');
  const { vmId, name } = parse(getExtensionInput, input);
  const rows = await ctx.db
    .select({ incarnation: goalStates.incarnation, contents: goalStates.contents })
    .from(goalStates)
    .where(and(eq(goalStates.vmId, vmId), sql`${goalStates.cause} ->> 'action' <> ${retryCause}`))
    .orderBy(desc(goalStates.incarnation))
    .limit(searchedStates);
  return { incarnation: revertTarget(rows, name) };
}
