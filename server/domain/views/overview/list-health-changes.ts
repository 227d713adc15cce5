import { sql } from 'drizzle-orm';
import { healthTransitions, vmHealth } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { barCount, barSeconds, firstBar, readHour } from './read-hour.ts';
import { type MapReader, shareReading } from './readings.ts';

/** Kinds of changes, by the new health of the VM: healthy, progressing, degraded, failed, unresponsive. */
export const changeKinds = ['recovered', 'started', 'degraded', 'failed', 'silent'] as const;
export type ChangeKind = (typeof changeKinds)[number];
export type ChangeCounts = Record<ChangeKind, number>;

export interface HealthChanges {
  /** Number of VMs whose health changed within the hour, and of those with a change of each kind. */
  vms: number;
  totals: ChangeCounts;
  /** The beginning of the hour. */
  since: string;
  /** Oldest first, each `barSeconds` long. The last bar has not ended yet. */
  bars: ({ from: string } & ChangeCounts)[];
  barSeconds: number;
}

const kindOf: Readonly<Record<string, ChangeKind>> = {
  healthy: 'recovered',
  progressing: 'started',
  degraded: 'degraded',
  failed: 'failed',
  unresponsive: 'silent',
};
const none = (): ChangeCounts => ({ recovered: 0, started: 0, degraded: 0, failed: 0, silent: 0 });

/** Returns the changes of the last hour, grouped into bars. */
export async function listHealthChanges(ctx: Context & MapReader): Promise<HealthChanges> {
  allow(ctx.actor, 'viewer');
  const [{ begin, transitions }, changed] = await Promise.all([readHour(ctx), countChanged(ctx)]);
  const bars = Array.from({ length: barCount }, (_, index) => ({
    from: new Date(begin + index * barSeconds * 1000).toISOString(),
    ...none(),
  }));
  for (const { bar, from, to, changes } of transitions) {
    const kind = kindOf[to ?? ''];
    const at = bars[bar];
    if (kind === undefined || at === undefined || from === null) continue;
    at[kind] += changes;
  }
  return { ...changed, bars, barSeconds };
}

/** Counts VMs, as lists do: a VM that failed twice counts once, and a deleted one not at all. */
async function countChanged(ctx: Context & MapReader): Promise<Pick<HealthChanges, 'vms' | 'totals' | 'since'>> {
  return shareReading(ctx, 'changed', async () => {
    const since = new Date(firstBar(ctx.now));
    const { rows } = await ctx.db.execute<{ to: string | null; isAll: boolean; vms: number }>(sql`
      select t."to", grouping(t."to") = 1 as "isAll", count(distinct vm_id)::int as vms from ${healthTransitions} t join ${vmHealth} using (vm_id)
      where t.extension is null and t.kind = 'health' and t."from" is not null and t.at >= ${since}
      group by grouping sets ((t."to"), ())`);
    const totals = none();
    for (const { to, vms } of rows) {
      const kind = kindOf[to ?? ''];
      if (kind !== undefined) totals[kind] = vms;
    }
    return { vms: rows.find(({ isAll }) => isAll)?.vms ?? 0, totals, since: since.toISOString() };
  });
}
