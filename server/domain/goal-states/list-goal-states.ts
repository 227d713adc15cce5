import { z } from 'zod';
import type { goalStates } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count, time } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { readNumberCursor, writeCursor } from '#server/domain/cursor.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { autoUpgradeMinorVersion, goal, timeouts } from './goal.ts';
import { type ListGoalStatesInput, listGoalStatesInput } from './input.ts';
import { loadPastPage } from './load-past-page.ts';

/**
 * A goal state in the history. It says which extensions have protected settings, but does not contain these settings.
 */
export const pastGoalState = z.object({
  incarnation: count,
  etag: z.string(),
  publishedAt: time,
  publishedBy: z.string(),
  cause: z.object({
    action: z.string(),
    extension: z.string().optional(),
    incarnation: count.optional(),
    rollout: z.string().optional(),
  }),
  extensions: z.array(
    z.object({
      name: z.string(),
      handler: z.string(),
      requestedVersion: z.string(),
      version: z.string(),
      state: goal,
      autoUpgradeMinorVersion,
      dependsOn: z.array(z.string()),
      timeouts,
      publicSettings: z.record(z.string(), z.unknown()),
      sequenceNumber: count,
      hasProtectedSettings: z.boolean(),
    }),
  ),
});
export type PastGoalState = z.infer<typeof pastGoalState>;

/** Lists the goal states of a VM, newest first, even if the VM is deleted. Throws 404 `vm_unknown`. */
export async function listGoalStates(
  ctx: Context,
  input: ListGoalStatesInput,
): Promise<{ items: PastGoalState[]; nextCursor: string | null }> {
  allow(ctx.actor, 'operator');
  const { vmId, limit, cursor } = parse(listGoalStatesInput, input);
  const before = cursor === undefined ? undefined : readNumberCursor(cursor);
  const rows = await loadPastPage(ctx, { vmId, before, limit });
  if (rows.length === 0 && before === undefined) throw new DomainError('not_found', 'vm_unknown');
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = last !== undefined && last.rowsFound > shown.length;
  return { items: shown.map(pastGoalStateOf), nextCursor: hasMore ? writeCursor([String(last.incarnation)]) : null };
}

/**
 * Converts a stored goal state for the history. The result says which extensions have protected settings, but does not
 * contain the ids of the stored settings.
 */
export function pastGoalStateOf(row: Omit<typeof goalStates.$inferSelect, 'vmId' | 'text'>): PastGoalState {
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
