import { and, eq, inArray } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { rolloutMembers, rolloutRings } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { orderKey } from '#server/domain/rollout-rules/order.ts';
import { boundaryOf, inFlightLimit, movableRuns } from '#server/domain/rollout-rules/rings.ts';
import type { Definition, RingPlan, RolloutPlan } from '#server/domain/rollout-rules/stored.ts';
import { memberKinds } from '#server/domain/rollout-rules/words.ts';
import { contextOf } from '../engine/pass.ts';
import { ringsOf, type StoredRing, type StoredRollout } from '../rows.ts';
import { readRules } from '../rules.ts';
import { openGiven } from '../secrets.ts';
import { type EvaluatedMember, evaluateMembers } from './evaluate-members.ts';
import { chunksOf, type PlacedMember } from './member-chunks.ts';
import { readMembers } from './rehash-plan.ts';
import { ringStats } from './ring-stats.ts';
import { requireTime } from './schedule.ts';
import { insertChunks } from './store-plan.ts';

/**
 * Moves the boundaries between neighboring rings that have not opened and have no filter (RO-34). The order of the
 * members stays. Approvals of rings whose members changed become invalid. Returns the new plan of each ring. Throws 422
 * `window_too_short`.
 */
export async function recutRings(
  tx: Transaction,
  ctx: Context,
  row: StoredRollout,
  definition: Definition,
): Promise<RolloutPlan['rings']> {
  const stored = await ringsOf(tx, row.id);
  const plans = stored.map(({ plan }, ring) => plan ?? row.plan?.rings[ring] ?? null);
  const runs = movableRuns(
    definition.rings,
    stored.map(({ state }) => state !== 'waiting'),
  );
  for (const run of runs) {
    const rings = stored.filter(({ ring }) => run.includes(ring));
    const sizes = sizesOf(definition, rings, row.plan?.members ?? row.members);
    if (rings.every(({ size }, at) => size === sizes[at])) continue;
    const cut = await cutRun(tx, ctx, row, { definition, rings, sizes });
    for (const [at, { ring }] of rings.entries()) plans[ring] = cut[at] ?? null;
  }
  const known = plans.filter((plan) => plan !== null);
  if (known.length === plans.length) requireTime(definition, known);
  return known;
}

/** Returns the new sizes of neighboring rings. The last one takes what is left, including VMs that joined later. */
function sizesOf(definition: Definition, rings: readonly StoredRing[], members: number): number[] {
  const first = rings[0]?.first ?? 0;
  const end = first + rings.reduce((sum, { size }) => sum + size, 0);
  let taken = first;
  return rings.map(({ ring }, at) => {
    const boundary = at === rings.length - 1 ? end : (boundaryOf(definition.rings[ring]?.upTo ?? null, members) ?? end);
    const size = Math.max(0, Math.min(boundary, end) - taken);
    taken += size;
    return size;
  });
}

interface Run {
  definition: Definition;
  rings: readonly StoredRing[];
  sizes: readonly number[];
}

async function cutRun(
  tx: Transaction,
  ctx: Context,
  row: StoredRollout,
  { definition, rings, sizes }: Run,
): Promise<RingPlan[]> {
  const numbers = rings.map(({ ring }) => ring);
  const members = (await readMembers(tx, row.id))
    .filter(({ ring }) => numbers.includes(ring))
    .flatMap(placedIn(row.id));
  const evaluated = await evaluatedOf(tx, ctx, row, members);
  await tx
    .delete(rolloutMembers)
    .where(and(eq(rolloutMembers.rolloutId, row.id), inArray(rolloutMembers.ring, numbers)));
  let first = rings[0]?.first ?? 0;
  let taken = 0;
  const plans: RingPlan[] = [];
  for (const [at, { ring, size: before, approvals }] of rings.entries()) {
    const size = sizes[at] ?? 0;
    const own = members.slice(taken, taken + size);
    await insertChunks(tx, row.id, ring, chunksOf(own));
    const plan = planOf(definition, ring, own, evaluated);
    await tx
      .update(rolloutRings)
      .set({ first, size, plan, approvals: size === before ? approvals : [] })
      .where(and(eq(rolloutRings.rolloutId, row.id), eq(rolloutRings.ring, ring)));
    plans.push(plan);
    first += size;
    taken += size;
  }
  return plans;
}

const placedIn =
  (rolloutId: string) =>
  ({ vmIds, kinds }: { vmIds: string[]; kinds: Buffer }): PlacedMember[] =>
    vmIds.map((vmId, at) => ({ vmId, hash: orderKey(rolloutId, vmId), kind: kinds[at] ?? 0 }));

/** Evaluates the change on these members again, for the numbers that the plan gives of a ring. */
async function evaluatedOf(
  tx: Transaction,
  ctx: Context,
  row: StoredRollout,
  members: readonly PlacedMember[],
): Promise<ReadonlyMap<string, EvaluatedMember>> {
  const { rules } = await readRules(tx);
  const select = { ids: members.map(({ vmId }) => vmId) };
  const only = { ...row, definition: { ...row.definition, select } };
  const given = openGiven(ctx, row);
  const found = await evaluateMembers(tx, contextOf(ctx, row, ctx.now), only, given, rules.availabilitySetTag);
  return new Map(found.members.map((member) => [member.vmId, member]));
}

function planOf(
  { rings }: Definition,
  index: number,
  own: readonly PlacedMember[],
  evaluated: ReadonlyMap<string, EvaluatedMember>,
): RingPlan {
  const ring = rings[index];
  if (ring === undefined) throw new RangeError(`the rollout has no ring ${index}`);
  const inFlight = Math.min(own.length, inFlightLimit(ring.gates.inFlight, own.length));
  const stats = ringStats(
    ring.name,
    own.flatMap(({ vmId }) => evaluated.get(vmId) ?? []),
    inFlight,
  );
  const kinds: RingPlan['kinds'] = {};
  for (const { kind } of own) {
    const word = memberKinds[kind];
    if (word !== undefined) kinds[word] = (kinds[word] ?? 0) + 1;
  }
  return { ...stats, size: own.length, kinds };
}
