import { asc, eq } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import { rolloutMembers, rolloutRings, rollouts } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import type { Definition, Gates, RingDefinition, RolloutChange } from '#server/domain/rollout-rules/stored.ts';
import { type MemberKind, memberKinds } from '#server/domain/rollout-rules/words.ts';

/** A change that gives every extension of the handler the version 1.1.0.0. */
export const upgrade: RolloutChange = {
  kind: 'set',
  ...{ handler: 'Acme.Lab.Probe', extension: null, version: '1.1.0.0', state: null },
  ...{ autoUpgradeMinorVersion: null, dependsOn: null, timeouts: null },
  ...{ publicSettings: null, protectedSettings: null, onAbsent: 'skip', allowLower: false, asOf: null },
};

const gates: Gates = {
  ...{ inFlight: { share: 1_000 }, ramp: true, soakSeconds: 300, settleSeconds: 600, bakeSeconds: 1_800 },
  ...{ errors: { share: 500, atLeast: 20 }, success: { share: 9_500, atLeast: 1 }, compare: null },
};

/** Returns a ring that takes members up to this share, in hundredths of a percent; null takes all that match. */
export const ringUpTo = (share: number | null, given: Partial<RingDefinition> = {}): RingDefinition => ({
  ...{ name: `up to ${share}`, filter: null, upTo: share === null ? null : { share } },
  ...{ approval: false, windows: [], gates },
  ...given,
});

/** Returns a definition; by default an upgrade of every VM in one ring. */
export const definitionOf = (given: Partial<Definition> = {}): Definition => ({
  ...{ strategy: 'careful', select: { all: true }, change: upgrade, rings: [ringUpTo(10_000)], windows: [] },
  ...{ silent: 'wait', newcomers: 'ignore', keepDays: 14, availabilitySets: 'respect' },
  ...{ onStepFailure: 'leave', onHalt: 'pause', retry: { times: 0, afterSeconds: 60, causes: ['exit'] } },
  ...{ maxMovedShare: null, noProgressSeconds: 86_400, stepsPerSecond: null, startAt: null },
  ...given,
});

type Row = typeof rollouts.$inferSelect;

/** Inserts a rollout whose plan was requested. Returns its id. */
export async function givenPlanning(
  { db }: Pick<Services, 'db'>,
  definition: Partial<Definition> = {},
  values: Partial<typeof rollouts.$inferInsert> = {},
): Promise<string> {
  const id = uuid();
  const now = new Date();
  const complete = definitionOf(definition);
  await db.insert(rollouts).values({
    ...{ id, revision: 1, name: 'A rollout', kind: 'rollout', state: 'planning', definition: complete },
    ...{ handler: complete.change.handler, planning: 1, plannedBy: 'Test', epoch: 'test', dueAt: now },
    ...{ createdAt: now, createdBy: 'Test', authors: { created: 'user:test', edited: null, planned: 'user:test' } },
    ...values,
  });
  return id;
}

/** Changes a rollout's row, as a verb would. */
export async function setRollout(
  { db }: Pick<Services, 'db'>,
  id: string,
  values: Partial<typeof rollouts.$inferInsert>,
): Promise<void> {
  await db.update(rollouts).set(values).where(eq(rollouts.id, id));
}

/** Returns a rollout's row. */
export async function rowOf({ db }: Pick<Services, 'db'>, id: string): Promise<Row> {
  const [row] = await db.select().from(rollouts).where(eq(rollouts.id, id));
  if (row === undefined) throw new Error('no such rollout');
  return row;
}

/** Returns the stored rings of a rollout. */
export const ringsOf = ({ db }: Pick<Services, 'db'>, id: string) =>
  db.select().from(rolloutRings).where(eq(rolloutRings.rolloutId, id)).orderBy(asc(rolloutRings.ring));

/** Returns the members of a rollout in order, with their kinds. */
export async function membersOf(
  { db }: Pick<Services, 'db'>,
  id: string,
): Promise<{ vmId: string; ring: number; kind: MemberKind | undefined }[]> {
  const chunks = await db
    .select()
    .from(rolloutMembers)
    .where(eq(rolloutMembers.rolloutId, id))
    .orderBy(asc(rolloutMembers.ring), asc(rolloutMembers.first));
  return chunks.flatMap(({ ring, vmIds, kinds }) =>
    vmIds.map((vmId, at) => ({ vmId, ring, kind: memberKinds[kinds[at] ?? -1] })),
  );
}
