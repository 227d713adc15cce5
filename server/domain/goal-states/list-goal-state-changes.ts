import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { readNumberCursor, writeCursor } from '#server/domain/cursor.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { changesBetween, type GoalStateChange } from './changes.ts';
import { type ListGoalStatesInput, listGoalStatesInput } from './input.ts';
import { loadPastPage } from './load-past-page.ts';

/** A goal state in the history without its contents: time, author, and changes. */
export interface PastChange {
  incarnation: number;
  publishedAt: string;
  publishedBy: string;
  cause: { action: string; extension?: string; incarnation?: number; rollout?: string };
  /** Differences from the previous goal state. */
  changes: GoalStateChange[];
}

/** Lists what each goal state of a VM changed, newest first, without settings. Throws 404 `vm_unknown`. */
export async function listGoalStateChanges(
  ctx: Context,
  input: ListGoalStatesInput,
): Promise<{ items: PastChange[]; nextCursor: string | null }> {
  allow(ctx.actor, 'operator');
  const { vmId, limit, cursor } = parse(listGoalStatesInput, input);
  const before = cursor === undefined ? undefined : readNumberCursor(cursor);
  const rows = await loadPastPage(ctx, { vmId, before, limit });
  const found = rows[0]?.rowsFound ?? 0;
  if (found === 0 && before === undefined) throw new DomainError('not_found', 'vm_unknown');
  // The last row is only needed for comparison, unless it is the oldest goal state.
  const shown = rows.slice(0, rows.length < found ? rows.length - 1 : limit);
  const items = shown.map(
    ({ incarnation, publishedAt, publishedBy, cause, contents }, index): PastChange => ({
      incarnation,
      publishedAt: publishedAt.toISOString(),
      publishedBy,
      cause,
      changes: changesBetween(rows[index + 1]?.contents ?? [], contents),
    }),
  );
  const last = items.at(-1);
  return { items, nextCursor: found > items.length && last ? writeCursor([String(last.incarnation)]) : null };
}
