import { sql } from 'drizzle-orm';
import { extensionHealth, type HealthCause, healthTransitions, vmHealth } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { type Asker, shareReading } from './shared-reading.ts';
import { type CommonTag, commonTag, readTagShares } from './tag-shares.ts';

/** VMs that failed or went silent at nearly the same time. */
export interface FleetEvent {
  /** Stays the same while VMs join it. */
  id: string;
  at: string;
  health: 'failed' | 'unresponsive';
  vms: number;
  common: CommonTag | null;
  /** The only one, with what failed on it. */
  vm: { id: string; name: string } | null;
  extension: { name: string; cause: HealthCause | null; exitCode: number | null } | null;
}

const mostEvents = 8;
/** Transitions that are looked at, newest first, and seconds between two of one event. */
const mostTransitions = 1_000;
const togetherSeconds = 180;

/** What of note happened to VMs within a day, newest first; what many VMs share is one event. */
export async function listFleetEvents(ctx: Context & Asker): Promise<FleetEvent[]> {
  allow(ctx.actor, 'viewer');
  return shareReading(ctx, 'events', async () => {
    const [fleet, { rows }] = await Promise.all([
      readTagShares(ctx.db),
      ctx.db.execute<{
        id: string;
        at: number;
        to: FleetEvent['health'];
        vm_id: string;
        name: string;
        tags: Record<string, string>;
      }>(sql`
        select t.id::text, extract(epoch from t.at)::float8 as at, t."to", t.vm_id, v.name, v.tags
        from ${healthTransitions} t join ${vmHealth} v using (vm_id)
        where t.extension is null and t.kind = 'health' and t."to" in ('failed', 'unresponsive')
          and t.at > ${new Date(ctx.now.getTime() - 86_400_000)}
        order by t.at desc limit ${mostTransitions}`),
    ]);
    const open = new Map<string, typeof rows>();
    const groups: (typeof rows)[] = [];
    for (const row of rows) {
      const group = open.get(row.to);
      if (group && (group.at(-1)?.at ?? 0) - row.at <= togetherSeconds) group.push(row);
      else {
        const begun = [row];
        open.set(row.to, begun);
        groups.push(begun);
      }
    }
    const shown = groups.slice(0, mostEvents);
    const single = shown.flatMap((group) => (group.length === 1 && group[0]?.to === 'failed' ? [group[0].vm_id] : []));
    const failed = await failedExtensions(ctx, single);
    return shown.map((group): FleetEvent => {
      const [newest] = group;
      const first = group.at(-1) ?? newest;
      const isOne = new Set(group.map(({ vm_id }) => vm_id)).size === 1 && first !== undefined;
      return {
        id: first?.id ?? '',
        at: new Date((first?.at ?? 0) * 1000).toISOString(),
        health: first?.to ?? 'failed',
        vms: new Set(group.map(({ vm_id }) => vm_id)).size,
        common: isOne
          ? null
          : commonTag(
              group.map(({ tags }) => tags),
              fleet,
            ),
        vm: isOne ? { id: first.vm_id, name: first.name } : null,
        extension: isOne ? (failed.get(first.vm_id) ?? null) : null,
      };
    });
  });
}

/** What is failed now on VMs that failed alone. */
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
