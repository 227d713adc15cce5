import type { Transaction } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import { needsApproval, readRunFacts } from '#server/domain/executions/index.ts';
import { kindPosition } from '#server/domain/rollout-rules/kinds.ts';
import { inFlightLimit } from '#server/domain/rollout-rules/rings.ts';
import type { Definition, RingPlan, RolloutPlan } from '#server/domain/rollout-rules/stored.ts';
import type { StoredRollout } from '../rows.ts';
import { readRules } from '../rules.ts';
import { runTermsOf } from '../run-terms.ts';
import { openGiven, requireKept } from '../secrets.ts';
import { type EvaluatedVms, evaluateMembers } from './evaluate-members.ts';
import { findOverlaps } from './find-overlaps.ts';
import { chunksOf, type MemberChunk } from './member-chunks.ts';
import { type KeyedMember, placeMembers } from './place-members.ts';
import { type HashedPlan, membersDigest, planHash, readVersion } from './plan-hash.ts';
import { countKinds, countNotRevertible, ringStats } from './ring-stats.ts';
import { endsOf, requireTime } from './schedule.ts';

/** A plan that is not stored yet. */
export interface MadePlan {
  plan: RolloutPlan;
  rings: { stats: RingPlan; chunks: MemberChunk[] }[];
  /** What the plan's hash covers. */
  hashed: HashedPlan;
}

/**
 * Creates the plan of a rollout from the snapshot of the transaction: its members, their rings and order, and what the
 * change would do to each. Writes nothing. Throws 422 `selection_empty` | `rollout_too_large` | `window_too_short`,
 * 409 `rollout_secrets_gone`.
 */
export async function makePlan(tx: Transaction, ctx: Context, row: StoredRollout): Promise<MadePlan> {
  const { rules, freezes } = await readRules(tx);
  requireKept(row);
  const given = openGiven(ctx, row);
  const evaluated = await evaluateMembers(tx, ctx, row, given, rules.availabilitySetTag);
  const placed = await placeMembers(tx, ctx, row, evaluated.members);
  const rings = placed.map((members, index) => ringOf(row.definition, index, members));
  const stats = rings.map((ring) => ring.stats);
  requireTime(row.definition, stats);
  const hashed: HashedPlan = {
    rolloutId: row.id,
    definition: row.definition,
    given,
    version: await readVersion(tx, row.definition),
    members: membersDigest(rings.map(({ chunks }) => chunks)),
  };
  const overlaps = await findOverlaps(
    tx,
    row,
    evaluated.members.map(({ vmId }) => vmId),
  );
  const plan = {
    ...summary(ctx, row, evaluated, planHash(ctx, hashed)),
    ...{ rings: stats, overlaps },
    ...(await runOf(tx, row)),
  };
  return { plan: { ...plan, ...endsOf(ctx, row, stats, rules, freezes) }, rings, hashed };
}

/**
 * Returns what the plan of a run fixes besides its members: whether a person must approve it, and the runbook's files.
 */
async function runOf(
  tx: Transaction,
  { definition }: Pick<StoredRollout, 'definition'>,
): Promise<Pick<RolloutPlan, 'approval' | 'files'>> {
  const terms = runTermsOf(definition);
  if (terms === null) return {};
  const { files } = await readRunFacts(tx, terms);
  return { files, ...((await needsApproval(tx, { isPublished: true })) && { approval: true }) };
}

function ringOf(definition: Definition, index: number, members: readonly KeyedMember[]): MadePlan['rings'][number] {
  const ring = definition.rings[index];
  if (ring === undefined) throw new Error(`there is no ring ${index}`);
  const inFlight = Math.min(members.length, inFlightLimit(ring.gates.inFlight, members.length));
  const chunks = chunksOf(members.map(({ vmId, hash, preview }) => ({ vmId, hash, kind: kindPosition(preview.kind) })));
  return { stats: ringStats(ring.name, members, inFlight), chunks };
}

function summary(
  ctx: Context,
  row: StoredRollout,
  { members, overtaken, matched, unchanged, refused, uncheckedSettings }: EvaluatedVms,
  hash: string,
): Omit<RolloutPlan, 'rings' | 'overlaps' | 'earliestEnd' | 'likelyEnd'> {
  return {
    ...{ hash, at: ctx.now.toISOString(), by: row.plannedBy ?? row.createdBy },
    ...{ matched, members: members.length, unchanged, refused, uncheckedSettings },
    kinds: countKinds(members),
    notRevertible: countNotRevertible(members, overtaken),
  };
}
