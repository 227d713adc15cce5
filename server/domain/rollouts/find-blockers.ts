import { sql } from 'drizzle-orm';
import type { Context } from '#server/domain/context.ts';
import { groupSql, outOfServiceSql } from '#server/domain/reservations/index.ts';
import type { BlockerView } from './answers.ts';
import { openStepsSql } from './engine/state-lists.ts';
import { readRules } from './rules.ts';

/**
 * Returns what a parked step of a VM waits for, by its cause: for `set-busy`, a VM of the same availability set that is
 * changing; for `vm-busy`, the rollout that changes this VM. A cause is absent if nothing is changing now, or if
 * a VM of the set is out of service for another reason.
 */
export async function findBlockers(
  ctx: Context,
  vmId: string,
  causes: ReadonlySet<string | null>,
): Promise<Map<string | null, BlockerView>> {
  const found = new Map<string | null, BlockerView>();
  if (causes.has('vm-busy')) {
    const { rows } = await ctx.db.execute<{ id: string; name: string }>(sql`
      select r.id, r.name from rollout_steps s join rollouts r on r.id = s.rollout_id
      where s.vm_id = ${vmId} and s.state in ${openStepsSql}`);
    for (const row of rows) found.set('vm-busy', { kind: 'rollout', ...row });
  }
  if (causes.has('set-busy')) {
    const { rules } = await readRules(ctx.db);
    const { rows } = await ctx.db.execute<{ id: string; name: string }>(sql`
      with out_of_service as (${outOfServiceSql(rules.availabilitySetTag)})
      select o.id, o.name from vms v join out_of_service r on r."group" = ${groupSql(rules.availabilitySetTag)}
        join vms o on o.id = r.vm_id
      where v.id = ${vmId} and r.vm_id <> ${vmId} order by o.name limit 1`);
    for (const row of rows) found.set('set-busy', { kind: 'vm', ...row });
  }
  return found;
}
