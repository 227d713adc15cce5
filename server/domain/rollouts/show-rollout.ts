import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { rollouts } from '#db/schema/index.ts';
import { hasRole } from '#server/domain/actor.ts';
import { isoOrNull } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { emptyCounts, shownCounts } from '#server/domain/rollout-rules/counts.ts';
import type { RingDefinition, RolloutApproval, RolloutRules } from '#server/domain/rollout-rules/stored.ts';
import type { PlanView, RingView, RolloutRow, RolloutView } from './answers.ts';
import { approvalsNeeded, approverFault, isRejected, shownWhy } from './approvals.ts';
import { forecastOf } from './forecast-of.ts';
import { readRollout, ringsOf, type StoredRing, type StoredRollout } from './rows.ts';
import { readRules } from './rules.ts';
import { shownDefinition } from './shown-definition.ts';

/** Returns a rollout as the caller may see it. Throws 404 `rollout_unknown`. */
export const showRollout = (ctx: Context, id: string): Promise<RolloutView> =>
  ctx.db.transaction(async (tx) => viewOf(ctx, tx, await readRollout(tx, id)));

/** Returns a rollout as the caller may see it: only operators see the settings of its change. */
export async function viewOf(ctx: Context, tx: Transaction, row: StoredRollout): Promise<RolloutView> {
  const [rings, { rules, freezes }] = [await ringsOf(tx, row.id), await readRules(tx)];
  const { plan, approvals } = row;
  return {
    ...rowOf(row, rings, rules),
    revision: row.revision,
    note: row.note,
    definition: shownDefinition(ctx, row, { withSettings: hasRole(ctx.actor, 'operator') }),
    forecast: forecastOf(ctx, row, rings, { rules, freezes }),
    rings: row.definition.rings.map((ring, index) => ringOf(ring, rings[index])),
    plan: plan && { hash: plan.hash, at: plan.at, by: plan.by },
    approvals: [...approvals, ...rings.flatMap((ring) => ring.approvals)].map(approvalOf),
    approvalsNeeded: approvalsNeeded(rules, row),
    mayApprove: awaitsDecision(row, rings, rules) && (await approverFault(tx, ctx, rules, row)) === null,
    revertedBy: row.revertedBy,
    supersededBy: row.supersededBy,
    startedBy: row.startedBy,
    startAt: isoOrNull(row.startAt),
    hasProtectedSettings: row.definition.change.protectedSettings === 'given',
    secretParameters: row.definition.change.run?.secretParameters ?? [],
  };
}

/** Returns a rollout as lists show it. */
export function rowOf(row: StoredRollout, rings: readonly StoredRing[], rules: RolloutRules): RolloutRow {
  const { id, name, kind, state, pausedBy, handler, next, definition, members, of, createdBy } = row;
  const { change } = definition;
  return {
    ...{ id, name, kind, state, pausedBy, handler, next, of, createdBy, why: shownWhy(row) },
    change: {
      kind: change.kind,
      handler: change.handler,
      runbook: change.run?.runbook ?? null,
      extension: change.extension,
      version: change.version,
      state: change.state,
      settings: change.publicSettings !== null || change.protectedSettings !== null,
    },
    counts: shownCounts(
      members,
      rings.map(({ counts }) => counts),
    ),
    rings: definition.rings.map((ring, index) => {
      const { state, size, counts } = rings[index] ?? unplanned;
      return { name: ring.name, state, size, counts: shownCounts(size, [counts]) };
    }),
    needsPerson: needsPerson(row, rules),
    createdAt: row.createdAt.toISOString(),
    startedAt: isoOrNull(row.startedAt),
    endedAt: isoOrNull(row.endedAt),
  };
}

/** A ring before the rollout was planned. */
const unplanned: Pick<StoredRing, 'state' | 'first' | 'size' | 'counts' | 'verdicts' | 'approvals'> = {
  ...{ state: 'waiting', first: 0, size: 0, counts: emptyCounts(), verdicts: [], approvals: [] },
};

function ringOf(ring: RingDefinition, stored: StoredRing | undefined): RingView {
  const { state, first, size, counts, verdicts, approvals } = stored ?? unplanned;
  const approval = approvals.find(({ approved }) => approved);
  return {
    ...{ name: ring.name, state, first, size, verdicts },
    counts: shownCounts(size, [counts]),
    approval: ring.approval,
    approvedBy: approval?.by ?? null,
    openedAt: isoOrNull(stored?.openedAt),
    metAt: isoOrNull(stored?.metAt),
    passedAt: isoOrNull(stored?.passedAt),
    bakeSeconds: ring.gates.bakeSeconds,
  };
}

const approvalOf = ({ actor: _, ...approval }: RolloutApproval) => approval;

/** The columns that decide whether a rollout needs a person. */
export const neededColumns = {
  ...{ kind: rollouts.kind, state: rollouts.state, pausedBy: rollouts.pausedBy, why: rollouts.why },
  ...{ next: rollouts.next, members: rollouts.members, planHash: rollouts.planHash, approvals: rollouts.approvals },
  plan: sql<{ approval: boolean | null }>`json_build_object('approval', ${rollouts.plan} -> 'approval')`,
};

/** Whether a rollout does not continue without a person. */
export function needsPerson(
  row: Pick<StoredRollout, Exclude<keyof typeof neededColumns, 'plan'>> & Parameters<typeof approvalsNeeded>[1],
  rules: RolloutRules,
): boolean {
  const codes = [...row.why, ...(row.next ? [row.next] : [])].map(({ code }) => code);
  if (row.state === 'paused') return row.pausedBy !== 'person';
  if (codes.includes('plan_moved_on') || codes.includes('plan_failed')) return true;
  if (row.state === 'planned') return isRejected(row) || approvalsNeeded(rules, row) > 0;
  return row.state === 'running' && codes.includes('ring_approval');
}

/** Whether the start of a rollout or one of its rings waits for a decision. */
function awaitsDecision(row: StoredRollout, rings: readonly StoredRing[], rules: RolloutRules): boolean {
  const isStartOpen = row.state === 'planned' || (row.state === 'paused' && row.authors.approveAgain === true);
  if (isStartOpen && approvalsNeeded(rules, row) > 0) return true;
  if (!['scheduled', 'running', 'paused'].includes(row.state)) return false;
  return rings.some(
    ({ ring, state, approvals }) =>
      state === 'waiting' &&
      row.definition.rings[ring]?.approval === true &&
      !approvals.some(({ approved }) => approved),
  );
}

/** Returns the plan of a rollout; null if it has none. */
export function planOf({ plan }: StoredRollout): PlanView | null {
  if (plan === null) return null;
  const { files: _, ...shown } = plan;
  return { ...shown, rings: plan.rings.map(({ longestSeconds: _, ...ring }) => ring) };
}
