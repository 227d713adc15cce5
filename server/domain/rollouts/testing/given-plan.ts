import type { rollouts } from '#db/schema/index.ts';
import type { Definition } from '#server/domain/rollout-rules/stored.ts';
import { planRollout } from '../planning/plan-rollout.ts';
import type { PlanServices } from '../planning/snapshot.ts';
import type { StoredRing, StoredRollout } from '../rows.ts';
import { givenPlanning, membersOf, ringsOf, rowOf, setRollout } from './given-draft.ts';

type Values = Partial<typeof rollouts.$inferInsert>;

export interface GivenPlan {
  id: string;
  row: StoredRollout;
  /** The plan; throws if the rollout could not be planned. */
  plan: NonNullable<StoredRollout['plan']>;
  members: Awaited<ReturnType<typeof membersOf>>;
  rings: StoredRing[];
}

/** Plans a rollout as a worker does, and returns what was stored. */
export async function givenPlan(
  services: PlanServices,
  definition: Partial<Definition> = {},
  values: Values = {},
): Promise<GivenPlan> {
  const id = await givenPlanning(services, definition, values);
  await planRollout(services, id);
  const row = await rowOf(services, id);
  if (row.plan === null) throw new Error(`not planned: ${JSON.stringify(row.why)}`);
  return { id, row, plan: row.plan, members: await membersOf(services, id), rings: await ringsOf(services, id) };
}

/** Plans and starts a rollout as a worker and the verb do. The rollout waits for its check. */
export async function givenStarted(
  services: PlanServices,
  definition: Partial<Definition> = {},
  values: Values = {},
): Promise<GivenPlan> {
  const given = await givenPlan(services, definition, values);
  await setRollout(services, given.id, { state: 'checking', startedBy: 'Test' });
  return given;
}
