import { sql } from 'drizzle-orm';
import { healthTransitions } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { type Asker, shareReading } from './shared-reading.ts';

/** What a VM became: healthy, progressing, degraded, failed, unresponsive. */
export const changeKinds = ['recovered', 'started', 'degraded', 'failed', 'silent'] as const;
export type ChangeKind = (typeof changeKinds)[number];
export type ChangeCounts = Record<ChangeKind, number>;

/** Seconds of one bar. */
const barSeconds = 150;
const barCount = 24;

export interface HealthChanges {
  /** VMs whose health became another within the hour. */
  vms: number;
  totals: ChangeCounts;
  /** Oldest first, `barSeconds` each; the last is not over yet. */
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

/** What changed within the last hour, bar by bar. Bars stand on the clock's own marks, so that they do not wander. */
export async function listHealthChanges(ctx: Context & Asker): Promise<HealthChanges> {
  allow(ctx.actor, 'viewer');
  return shareReading(ctx, 'changes', async () => {
    const width = barSeconds * 1000;
    const end = (Math.floor(ctx.now.getTime() / width) + 1) * width;
    const begin = end - barCount * width;
    const within = sql`extension is null and kind = 'health' and at >= ${new Date(begin)} and "from" is not null`;
    const [{ rows }, vms] = await Promise.all([
      ctx.db.execute<{ bar: number; to: string; changes: number }>(sql`
        select floor((extract(epoch from at) * 1000 - ${begin}) / ${width})::int as bar, "to", count(*)::int as changes
        from ${healthTransitions} where ${within} group by 1, 2`),
      ctx.db.execute<{ vms: number }>(
        sql`select count(distinct vm_id)::int as vms from ${healthTransitions} where ${within}`,
      ),
    ]);
    const totals = none();
    const bars = Array.from({ length: barCount }, (_, index) => ({
      from: new Date(begin + index * width).toISOString(),
      ...none(),
    }));
    for (const { bar, to, changes } of rows) {
      const kind = kindOf[to];
      const at = bars[Math.min(bar, barCount - 1)];
      if (kind === undefined || at === undefined) continue;
      at[kind] += changes;
      totals[kind] += changes;
    }
    return { vms: vms.rows[0]?.vms ?? 0, totals, bars, barSeconds };
  });
}
