import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import type { RolloutPlan } from '#server/domain/rollout-rules/stored.ts';
import { openStates } from '#server/domain/rollout-rules/words.ts';
import type { StoredRollout } from '../rows.ts';

/** Number of members whose overlap is counted in one statement. */
const most = 50_000;

/** States of steps after which a rollout does not change the member again. */
const over = ['succeeded', 'failed', 'reverted', 'stuck', 'overtaken', 'skipped', 'gone', 'unreached'];

interface OpenRollout extends Record<string, unknown> {
  id: string;
  name: string;
}

/**
 * Returns the open rollouts that still change the same extension on some of these VMs, with the number of these VMs. A
 * revert does not overlap with the rollout that it reverts, automatic rollouts give way to the others, and a run changes
 * no extension.
 */
export async function findOverlaps(
  tx: Transaction,
  rollout: StoredRollout,
  vmIds: readonly string[],
): Promise<RolloutPlan['overlaps']> {
  const open = await openRolloutsOf(tx, rollout);
  if (open.length === 0) return [];
  const counts = new Map<string, number>();
  for (let first = 0; first < vmIds.length; first += most) {
    const { rows } = await tx.execute<{ id: string; members: number }>(sql`
      select m.rollout_id as id, count(*)::int as members
      from rollout_members m cross join lateral unnest(m.vm_ids) as o (vm_id)
      join unnest(${sql.param(vmIds.slice(first, first + most))}::uuid[]) as mine (vm_id) using (vm_id)
      where m.rollout_id = any(${sql.param(open.map(({ id }) => id))}::uuid[]) and not exists (
        select from rollout_steps s where s.vm_id = o.vm_id and s.rollout_id = m.rollout_id
          and s.state = any(${sql.param(over)}::text[]))
      group by 1`);
    for (const { id, members } of rows) counts.set(id, (counts.get(id) ?? 0) + members);
  }
  return open.flatMap(({ id, name }) => {
    const members = counts.get(id);
    return members === undefined ? [] : [{ id, name, members }];
  });
}

/** Returns the open rollouts that change extensions of the same handler or, if both name one, the same extension. */
async function openRolloutsOf(tx: Transaction, { id, of, handler, definition }: StoredRollout): Promise<OpenRollout[]> {
  const { kind, extension } = definition.change;
  if (kind === 'run') return [];
  const { rows } = await tx.execute<OpenRollout>(sql`
    select r.id, r.name from rollouts r
    where r.state = any(${sql.param([...openStates])}::text[]) and r.id <> ${id} and r.kind <> 'automatic' and r.id is distinct from ${of}::uuid
      and (r.handler = ${handler} or r.handler is null or ${handler}::text is null)
      and r.definition #>> '{change,kind}' <> 'run'
      and coalesce(r.definition #>> '{change,extension}' = ${extension}, true)
    order by r.created_at, r.id`);
  return rows;
}
