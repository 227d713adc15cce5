import { and, asc, eq, like } from 'drizzle-orm';
import { auditEntries, rolloutMembers, rolloutRings, rolloutSteps, rollouts } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { emptyCounts } from '#server/domain/rollout-rules/counts.ts';
import type { RolloutPlan } from '#server/domain/rollout-rules/stored.ts';
import { type MemberKind, memberKinds, type RolloutState } from '#server/domain/rollout-rules/words.ts';
import type { RolloutView } from '../answers.ts';
import { createRollout } from '../create-rollout.ts';
import type { DefinitionInput } from '../read-definition.ts';
import type { StoredRing, StoredRollout } from '../rows.ts';

/** A definition that is accepted, with three rings. */
export const probeDefinition = {
  name: 'probe 1.1 in production',
  select: { include: { tags: ['env=prod'] } },
  change: { kind: 'set', handler: 'Acme.Lab.Probe', version: '1.1.0.0', publicSettings: { merge: { level: 'info' } } },
  rings: [
    { name: 'canary', upTo: { count: 2 } },
    { name: 'tenth', upTo: { percent: 50 }, approval: true },
    { name: 'all', upTo: { percent: 100 } },
  ],
} satisfies DefinitionInput;

export const planHash = 'hash-1';

export const probePlan: RolloutPlan = {
  ...{ hash: planHash, at: '2026-03-01T10:00:00.000Z', by: 'Test operator' },
  ...{ members: 10, unchanged: 1, matched: 11, kinds: { update: 10 }, refused: {}, rings: [] },
  ...{ notRevertible: {}, overlaps: [], uncheckedSettings: 0 },
  ...{ earliestEnd: '2026-03-01T12:00:00.000Z', likelyEnd: '2026-03-01T14:00:00.000Z' },
};

export interface GivenTerms {
  state?: RolloutState;
  definition?: Partial<DefinitionInput>;
  values?: Partial<StoredRollout>;
  rings?: (Partial<StoredRing> | undefined)[];
}

/** Creates a rollout and puts it into a state, as the workers would. A state after `planning` has a plan and rings. */
export async function givenRollout(
  ctx: Context,
  { state = 'draft', definition = {}, values = {}, rings = [] }: GivenTerms = {},
): Promise<RolloutView> {
  const view = await createRollout(ctx, { ...probeDefinition, ...definition });
  const isPlanned = state !== 'draft' && state !== 'planning';
  const planned = {
    plan: probePlan,
    planHash,
    members: probePlan.members,
    plannedAt: ctx.now,
    plannedBy: 'Test operator',
  };
  await ctx.db
    .update(rollouts)
    .set({ state, ...(isPlanned && planned), ...values })
    .where(eq(rollouts.id, view.id));
  if (isPlanned) {
    await ctx.db.insert(rolloutRings).values(
      [2, 3, 5].map((size, ring) => ({
        ...{ rolloutId: view.id, ring, state: 'waiting' as const, first: [0, 2, 5][ring] ?? 0, size },
        counts: emptyCounts(),
        ...rings[ring],
      })),
    );
  }
  return view;
}

/** Stores the members of a rollout in this order, ring by ring; by default, all of them are updates. */
export async function givenMembers(
  ctx: Context,
  rolloutId: string,
  rings: readonly (readonly string[])[],
  kinds: readonly (readonly MemberKind[])[] = [],
): Promise<void> {
  for (const [ring, vmIds] of rings.entries()) {
    await ctx.db.insert(rolloutMembers).values({
      ...{ rolloutId, ring, first: 0, low: '0', high: 'g', vmIds: [...vmIds] },
      kinds: Buffer.from(vmIds.map((_, place) => memberKinds.indexOf(kinds[ring]?.[place] ?? 'update'))),
    });
  }
}

/** Stores a step of a member. */
export async function givenStep(
  ctx: Context,
  step: Pick<typeof rolloutSteps.$inferInsert, 'rolloutId' | 'vmId' | 'state'> &
    Partial<typeof rolloutSteps.$inferInsert>,
): Promise<void> {
  await ctx.db.insert(rolloutSteps).values({ ring: 0, place: 0, kind: 1, updatedAt: ctx.now, ...step });
}

/** Returns the stored row. */
export async function rowOf(ctx: Context, id: string): Promise<StoredRollout> {
  const [row] = await ctx.db.select().from(rollouts).where(eq(rollouts.id, id));
  if (row === undefined) throw new Error(`no rollout ${id}`);
  return row;
}

/** An act in the activity log, as a page shows it. */
interface GivenAct {
  action: string;
  by: string;
  details: Record<string, unknown>;
}

/** Returns the activity of a rollout, oldest first, except its creation. */
export async function activityOf(ctx: Context, id: string): Promise<GivenAct[]> {
  const rows = await ctx.db
    .select()
    .from(auditEntries)
    .where(and(eq(auditEntries.targetId, id), like(auditEntries.action, 'rollout.%')))
    .orderBy(asc(auditEntries.id));
  return rows
    .filter(({ action }) => action !== 'rollout.create')
    .map(({ action, actorName, details }) => ({ action, by: actorName, details: details as Record<string, unknown> }));
}

/** Returns a context of another person with the same role. */
export const asPerson = (ctx: Context, name: string): Context => ({
  ...ctx,
  actor: { ...ctx.actor, id: name, name },
});
