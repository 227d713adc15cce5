import { sql } from 'drizzle-orm';
import { healthTransitions } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { barCount, barSeconds, firstBar, readHour } from './read-hour.ts';
import { type MapReader, shareReading } from './readings.ts';

/** Kinds of changes, by the new health of the VM: healthy, progressing, degraded, failed, unresponsive. */
export const changeKinds = ['recovered', 'started', 'degraded', 'failed', 'silent'] as const;
export type ChangeKind = (typeof changeKinds)[number];
export type ChangeCounts = Record<ChangeKind, number>;

export interface HealthChanges {
  /** Number of VMs whose health changed within the hour. */
  vms: number;
  totals: ChangeCounts;
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
  const [{ begin, transitions }, vms] = await Promise.all([readHour(ctx), countChanged(ctx)]);
  const totals = none();
  const bars = Array.from({ length: barCount }, (_, index) => ({
    from: new Date(begin + index * barSeconds * 1000).toISOString(),
    ...none(),
  }));
  for (const { bar, from, to, changes } of transitions) {
    const kind = kindOf[to ?? ''];
    const at = bars[bar];
    if (kind === undefined || at === undefined || from === null) continue;
    at[kind] += changes;
    totals[kind] += changes;
  }
  return { vms, totals, bars, barSeconds };
}

async function countChanged(ctx: Context & MapReader): Promise<number> {
  return shareReading(ctx, 'changed', async () => {
    const { rows } = await ctx.db.execute<{ vms: number }>(sql`
      select count(distinct vm_id)::int as vms from ${healthTransitions}
      where extension is null and kind = 'health' and "from" is not null and at >= ${new Date(firstBar(ctx.now))}`);
    return rows[0]?.vms ?? 0;
  });
}
