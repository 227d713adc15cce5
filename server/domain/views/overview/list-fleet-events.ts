import { sql } from 'drizzle-orm';
import { extensionHealth, healthTransitions, vmHealth } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { eventMinute, fleetEventKind, isVmTransition } from '#server/domain/health/index.ts';
import type { HealthCause } from '#server/domain/verdicts/index.ts';
import { type MapReader, shareReading } from './readings.ts';
import { type CommonTag, commonTag, readTagShares } from './tag-shares.ts';

/** VMs that failed, or VMs that became unresponsive, in the same minute. */
export interface FleetEvent {
  /** Id of the event, which stays the same while more VMs join the event. */
  id: string;
  /** When the health of a VM of the event last changed to `health`. */
  at: string;
  /**
   * The value of the filter `event` that selects exactly these VMs in VM lists: the kind and the minute of the event.
   */
  filter: string;
  health: 'failed' | 'unresponsive';
  vms: number;
  common: CommonTag | null;
  /** The VM and what failed on it, if the event has only one VM. */
  vm: { id: string; name: string } | null;
  extension: { name: string; cause: HealthCause | null; exitCode: number | null } | null;
}

const maxEvents = 8;
/** Maximum number of VMs of an event whose tags are compared. */
const sampleSize = 500;

/**
 * Returns the eight newest events of the last day, newest first. VMs that failed in the same minute form one event, as
 * on the Activity page. The same applies to VMs that became unresponsive.
 */
export async function listFleetEvents(ctx: Context & MapReader): Promise<FleetEvent[]> {
  allow(ctx.actor, 'viewer');
  return shareReading(ctx, 'events', async () => {
    const [fleet, { rows }] = await Promise.all([readTagShares(ctx), readEvents(ctx)]);
    const alone = rows.flatMap(({ to, vms, vm_id }) => (vms === 1 && to === 'failed' ? [vm_id] : []));
    const failed = await failedExtensions(ctx, alone);
    return rows.map(({ id, at, minute, to, vms, vm_id, name, tags }): FleetEvent => {
      const isOne = vms === 1;
      return {
        id,
        at: new Date(at * 1000).toISOString(),
        filter: `${to === 'failed' ? 'failed' : 'silent'}:${new Date(minute * 1000).toISOString().slice(0, 16)}Z`,
        health: to,
        vms,
        common: isOne ? null : commonTag(tags, fleet),
        vm: isOne ? { id: vm_id, name } : null,
        extension: isOne ? (failed.get(vm_id) ?? null) : null,
      };
    });
  });
}

function readEvents(ctx: Context) {
  return ctx.db.execute<{
    id: string;
    at: number;
    minute: number;
    to: FleetEvent['health'];
    vms: number;
    vm_id: string;
    name: string;
    tags: Record<string, string>[];
  }>(sql`
    with groups as (
      select t."to", ${eventMinute} as minute, max(t.at) as at, count(distinct t.vm_id)::int as vms,
        (array_agg(t.id order by t.at, t.id))[1] as id,
        (array_agg(t.vm_id order by t.at, t.id))[1:${sampleSize}::int] as sampled
      from ${healthTransitions} t join ${vmHealth} using (vm_id)
      where ${isVmTransition} and ${fleetEventKind} in ('failed', 'silent')
        and t.at > ${new Date(ctx.now.getTime() - 86_400_000)}
      group by 1, 2 order by 3 desc limit ${maxEvents}
    )
    select g.id::text, extract(epoch from g.at)::float8 as at, extract(epoch from g.minute)::float8 as minute, g."to",
      g.vms, f.vm_id, f.name, v.tags
    from groups g
    cross join lateral (select jsonb_agg(tags) as tags from ${vmHealth} where vm_id = any (g.sampled)) v
    join ${vmHealth} f on f.vm_id = g.sampled[1]
    order by g.at desc`);
}

async function failedExtensions(ctx: Context, vmIds: string[]): Promise<Map<string, FleetEvent['extension']>> {
  if (vmIds.length === 0) return new Map();
  const { rows } = await ctx.db.execute<{
    vm_id: string;
    name: string;
    cause: HealthCause | null;
    exit_code: number | null;
  }>(sql`
    select distinct on (vm_id) vm_id, name, cause, exit_code from ${extensionHealth}
    where vm_id = any (${sql.param(vmIds)}::uuid[]) and health = 'failed' order by vm_id, since desc`);
  return new Map(rows.map((row) => [row.vm_id, { name: row.name, cause: row.cause, exitCode: row.exit_code }]));
}
