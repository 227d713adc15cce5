import { sql } from 'drizzle-orm';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { memberKinds } from '#server/domain/rollout-rules/words.ts';
import type { PlanVm } from './answers.ts';
import { type ListPlanVmsInput, listPlanVmsInput } from './input.ts';
import { placeCursor, readPlace } from './list-steps.ts';
import { readRollout } from './rows.ts';

/** Lists the members of a plan in order, for operators. Throws 400 `cursor_invalid`, 404 `rollout_unknown`. */
export async function listPlanVms(
  ctx: Context,
  input: ListPlanVmsInput,
): Promise<{ items: PlanVm[]; nextCursor: string | null }> {
  allow(ctx.actor, 'operator');
  const { id, ring, kind, limit, cursor } = parse(listPlanVmsInput, input);
  await readRollout(ctx.db, id);
  const after = cursor === undefined ? { ring: 0, place: -1 } : readPlace(cursor);
  const { rows } = await ctx.db.execute<{ vmId: string; name: string; ring: number; place: number; kind: number }>(sql`
    select p.vm_id as "vmId", v.name, p.ring, p.place, p.kind
    from (
      select m.ring, m.first + o.n - 1 as place, o.vm_id, get_byte(m.kinds, o.n::int - 1) as kind
      from rollout_members m cross join lateral unnest(m.vm_ids) with ordinality o(vm_id, n)
      where m.rollout_id = ${id}
        and (m.ring, m.first + cardinality(m.vm_ids) - 1) > (${after.ring}::smallint, ${after.place}::int)
        and (m.ring, m.first + o.n - 1) > (${after.ring}::smallint, ${after.place}::bigint)
        and ${ring === undefined ? sql`true` : sql`m.ring = ${ring}`}
        and ${kind === undefined ? sql`true` : sql`get_byte(m.kinds, o.n::int - 1) = ${memberKinds.indexOf(kind)}`}
      order by m.ring, m.first, o.n limit ${limit + 1}) p
    join vms v on v.id = p.vm_id
    order by p.ring, p.place`);
  const items = rows.slice(0, limit).map((row) => ({
    ...row,
    place: Number(row.place),
    kind: memberKinds[row.kind] ?? 'settings',
  }));
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? placeCursor(last) : null };
}
