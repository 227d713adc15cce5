import { and, eq, inArray } from 'drizzle-orm';
import { type ExtensionContents, goalStateHeads, goalStates } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { changesBetween, type GoalStateChange, revertContents } from './changes.ts';
import { effectOf } from './goal-state.ts';
import { type CompareGoalStatesInput, compareGoalStatesInput, type PlanRevertInput, planRevertInput } from './input.ts';
import { type PastGoalState, pastGoalStateOf } from './list-goal-states.ts';
import { nextSequences } from './sequence.ts';

export interface GoalStateComparison {
  /** Null for incarnation 0, the empty state before the first goal state. */
  before: PastGoalState | null;
  after: PastGoalState;
  changes: GoalStateChange[];
  /** Extensions whose protected settings differ; neither side contains their values. */
  secretsChanged: string[];
}

type Row = typeof goalStates.$inferSelect;

/** Compares any two goal states of a VM, even if the VM is deleted. Throws 404 `goal_state_unknown`. */
export async function compareGoalStates(ctx: Context, input: CompareGoalStatesInput): Promise<GoalStateComparison> {
  allow(ctx.actor, 'operator');
  const { vmId, from, to } = parse(compareGoalStatesInput, input);
  const rows = await load(ctx, vmId, [from, to]);
  return compare(from === 0 ? null : rowOf(rows, from), rowOf(rows, to));
}

/**
 * Compares the current goal state with the goal state that a revert would declare. Pass `before.incarnation` as the
 * revert's `ifMatch`. Throws 404 `vm_unknown` | `goal_state_unknown`.
 */
export async function previewRevert(ctx: Context, input: PlanRevertInput): Promise<GoalStateComparison> {
  allow(ctx.actor, 'operator');
  const { vmId, incarnation } = parse(planRevertInput, input);
  const [head] = await ctx.db
    .select({ incarnation: goalStateHeads.incarnation })
    .from(goalStateHeads)
    .where(eq(goalStateHeads.vmId, vmId));
  if (head === undefined) throw new DomainError('not_found', 'vm_unknown');
  const rows = await load(ctx, vmId, [head.incarnation, incarnation]);
  const [inForce, target] = [rowOf(rows, head.incarnation), rowOf(rows, incarnation)];
  const contents = revertContents(target.contents);
  const next = await nextSequences(
    ctx.db,
    vmId,
    contents.map(({ name }) => name),
  );
  return compare(inForce, { ...target, contents: contents.map((after) => renumbered(inForce, after, next)) });
}

/**
 * Sequence numbers never decrease: extensions that run again get the next number, and all other extensions keep theirs.
 */
function renumbered(inForce: Row, after: ExtensionContents, next: ReadonlyMap<string, number>): ExtensionContents {
  const current = inForce.contents.find(({ name }) => name === after.name);
  const kept = effectOf(current, after) === 'sequence' ? undefined : current?.sequenceNumber;
  return { ...after, sequenceNumber: kept ?? next.get(after.name) ?? 1 };
}

const load = (ctx: Context, vmId: string, incarnations: number[]): Promise<Row[]> =>
  ctx.db
    .select()
    .from(goalStates)
    .where(and(eq(goalStates.vmId, vmId), inArray(goalStates.incarnation, incarnations)));

function rowOf(rows: readonly Row[], incarnation: number): Row {
  const row = rows.find((each) => each.incarnation === incarnation);
  if (row === undefined) throw new DomainError('not_found', 'goal_state_unknown', { params: { incarnation } });
  return row;
}

function compare(before: Row | null, after: Row): GoalStateComparison {
  const old = before?.contents ?? [];
  const changed = after.contents.filter(({ name, secretId }) => {
    const was = old.find((extension) => extension.name === name);
    return was !== undefined && was.secretId !== secretId;
  });
  return {
    before: before && pastGoalStateOf(before),
    after: pastGoalStateOf(after),
    changes: changesBetween(old, after.contents),
    secretsChanged: changed.map(({ name }) => name),
  };
}
