import type { Database } from '#db/client.ts';
import { checkCounts } from '#server/domain/rollouts/testing/check-counts.ts';

/** What is checked of a rollout after processes were killed. */
export interface RolloutFindings {
  /** A sentence for each violation. */
  problems: string[];
  steps: Record<string, number>;
  published: number;
  recalled: number;
}

/** VMs with more goal states of the rollout than attempts: a recall allows one more. */
const twice = `
  select vm_id, count(*) filter (where cause->>'action' = 'rollout.step')::int as steps,
    count(*) filter (where cause->>'action' = 'rollout.recall')::int as recalls
  from goal_states where cause->>'rollout' = $1 group by vm_id`;

/** Steps of an availability set that began before an earlier one was decided. */
const together = `
  select set_name, vm_id, before from (
    select v.tags->>$2 as set_name, s.vm_id, s.published_at,
      lag(s.vm_id) over sets as before, lag(s.decided_at) over sets as decided_before, lag(s.vm_id) over sets is not null as follows
    from rollout_steps s join vms v on v.id = s.vm_id
    where s.rollout_id = $1 and v.tags ? $2 and s.published_at is not null
    window sets as (partition by v.tags->>$2 order by s.published_at)
  ) ordered
  where follows and (decided_before is null or decided_before > published_at)`;

const batches = `
  select coalesce(sum((details->>'count')::int), 0)::int as n from audit_entries
  where target_id = $1 and action = 'rollout.batch'`;

/**
 * Checks that no VM got two goal states of one attempt, that no availability set had two open steps, that the counts
 * agree with the steps and add up, and that the activity log has every published goal state.
 */
export async function findProblems(db: Database, id: string, setTag: string): Promise<RolloutFindings> {
  const client = db.$client;
  const problems: string[] = [];
  await checkCounts(db).catch((error: Error) => problems.push(error.message));
  const goals = await client.query<{ vm_id: string; steps: number; recalls: number }>(twice, [id]);
  for (const { vm_id, steps, recalls } of goals.rows) {
    if (steps > recalls + 1) problems.push(`VM ${vm_id} got ${steps} goal states, and ${recalls} were recalled`);
  }
  const sets = await client.query<{ set_name: string; vm_id: string; before: string }>(together, [id, setTag]);
  for (const { set_name, vm_id, before } of sets.rows) {
    problems.push(`availability set ${set_name}: ${vm_id} began before ${before} was decided`);
  }
  const sum = (of: 'steps' | 'recalls') => goals.rows.reduce((total, row) => total + row[of], 0);
  const recorded = (await client.query<{ n: number }>(batches, [id])).rows[0]?.n ?? 0;
  if (recorded !== sum('steps')) problems.push(`${sum('steps')} goal states, but ${recorded} in the activity log`);
  const states = await client.query<{ state: string; n: number }>(
    'select state, count(*)::int as n from rollout_steps where rollout_id = $1 group by state order by n desc',
    [id],
  );
  const steps = Object.fromEntries(states.rows.map(({ state, n }) => [state, n]));
  return { problems, steps, published: sum('steps'), recalled: sum('recalls') };
}
