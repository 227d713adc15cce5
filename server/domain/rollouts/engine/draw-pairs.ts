import { sql } from 'drizzle-orm';
import type { FleetFilter } from '#server/domain/fleet/index.ts';
import { fleetSource } from '#server/domain/fleet/index.ts';
import { openPair } from '#server/domain/rollout-rules/counts.ts';
import { secondsAfter } from '#server/domain/rollout-rules/step-times.ts';
import { type Pass, ringAt, type StepRow } from './pass.ts';
import { openStepsSql } from './state-lists.ts';
import { writeSteps } from './write-steps.ts';

/** Maximum number of pairs of a ring. */
const maxPairs = 1_000;
/** Members at the far end of a ring among which controls are looked for. */
const farEnd = 8_192;
/** Seconds after which an open pair is looked at again. */
export const pairSeconds = 60;

/**
 * Pairs VMs that were healthy before their step with members of later rings that are healthy and reachable (RO-24).
 * Controls come from the far ends of the later rings, in proportion to the sizes of these rings.
 */
export async function drawPairs(pass: Pass, index: number, began: readonly StepRow[]): Promise<void> {
  const ring = ringAt(pass, index);
  const wanting = began.filter(({ wasHealthy }) => wasHealthy).slice(0, Math.max(0, maxPairs - ring.counts.pairs));
  if (ring.definition.gates.compare === null || wanting.length === 0) return;
  const controls = await drawControls(pass, index, wanting.length);
  const paired = wanting.slice(0, controls.length).map((step, at): StepRow => {
    ring.counts = openPair(ring.counts);
    return { ...step, pairVmId: controls[at] ?? null, pairDueAt: secondsAfter(pass.ctx.now, pairSeconds) };
  });
  await writeSteps(pass.tx, paired);
}

async function drawControls(pass: Pass, index: number, count: number): Promise<string[]> {
  const later = pass.rings.flatMap((ring, at) => (at > index ? [{ at, ring, left: ring.row.size - ring.taken }] : []));
  const total = later.reduce((sum, { ring }) => sum + ring.row.size, 0);
  const drawn: string[] = [];
  for (const { at, ring, left } of later) {
    const share = Math.min(left, Math.ceil((count * ring.row.size) / Math.max(1, total)), count - drawn.length);
    if (share > 0) drawn.push(...(await controlsIn(pass, index, { ring: at, limit: share })));
  }
  return drawn;
}

/** Returns members at the far end of a ring that can be watched: none of them is watched already or has a step. */
async function controlsIn(
  pass: Pass,
  index: number,
  { ring, limit }: { ring: number; limit: number },
): Promise<string[]> {
  const { tx, ctx, row } = pass;
  const { filter } = ringAt(pass, index).definition;
  const source = filter && fleetSource(ctx.fleetFields, filter as FleetFilter, ctx.now);
  const matches = source ? sql`v.id in (select ${source.id} from ${source.table} where ${source.where})` : sql`true`;
  const { size } = ringAt(pass, ring).row;
  const { taken } = ringAt(pass, ring);
  const { rows } = await tx.execute<{ id: string }>(sql`
    select v.id from (
      select m.vm_ids[n] as id, m.first + n - 1 as place
        from rollout_members m cross join lateral generate_series(1, cardinality(m.vm_ids)) as n
       where m.rollout_id = ${row.id} and m.ring = ${ring} and m.first + cardinality(m.vm_ids) > ${size - farEnd}::int
    ) c
    join vms v on v.id = c.id and v.deleted_at is null and v.decommissioning_at is null
    join vm_health h on h.vm_id = v.id and h.agent = 'ready' and h.health = 'healthy'
     where c.place >= ${taken} and ${matches}
       and not exists (select from holds o where o.vm_id = v.id and o.since is not null)
       and not exists (select from rollout_steps s where s.vm_id = v.id and (s.rollout_id = ${row.id} or s.state in ${openStepsSql}))
       and not exists (select from rollout_steps s where s.rollout_id = ${row.id} and s.pair_vm_id = v.id)
     order by c.place desc limit ${limit}`);
  return rows.map(({ id }) => id);
}
