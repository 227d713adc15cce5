import { sql } from 'drizzle-orm';
import { healthTransitions, vmHealth } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import type { VmHealth } from '#server/domain/verdicts/index.ts';
import { barCount, barSeconds, firstBar } from './bars.ts';
import { type MapReader, shareReading } from './readings.ts';

/** Kinds of changes, by the new health of the VM: healthy, progressing, degraded, failed, unresponsive. */
export const changeKinds = ['healthy', 'started', 'degraded', 'failed', 'silent'] as const;
export type ChangeKind = (typeof changeKinds)[number];
export type ChangeCounts = Record<ChangeKind, number>;

/** The changes within a time range: the number of VMs with any change, and the number with a change of each kind. */
interface ChangedVms extends ChangeCounts {
  vms: number;
}

export interface HealthChanges {
  /** Number of VMs whose health changed in the last hour, and the number with a change of each kind. */
  vms: number;
  totals: ChangeCounts;
  /** Start of the last hour, which is the start of the first bar. */
  since: string;
  /** Oldest first, each `barSeconds` long. The last bar has not ended yet. */
  bars: ({ from: string; until: string } & ChangedVms)[];
  barSeconds: number;
}

const kindOf: Readonly<Partial<Record<VmHealth, ChangeKind>>> = {
  healthy: 'healthy',
  progressing: 'started',
  degraded: 'degraded',
  failed: 'failed',
  unresponsive: 'silent',
};
const none = (): ChangedVms => ({ vms: 0, healthy: 0, started: 0, degraded: 0, failed: 0, silent: 0 });

/**
 * Returns the changes of the last hour, in total and grouped into bars. Counts VMs, as lists do: a VM that failed twice
 * counts once, and a deleted VM not at all.
 */
export async function listHealthChanges(ctx: Context & MapReader): Promise<HealthChanges> {
  allow(ctx.actor, 'viewer');
  return shareReading(ctx, 'changes', async () => {
    const begin = firstBar(ctx.now);
    const at = (bar: number): string => new Date(begin + bar * barSeconds * 1000).toISOString();
    const total = none();
    const bars = Array.from({ length: barCount }, (_, bar) => ({ from: at(bar), until: at(bar + 1), ...none() }));
    for (const { bar, to, isAny, vms } of await readChanges(ctx, begin)) {
      const counts = bar === null ? total : bars[bar];
      const kind = isAny ? 'vms' : kindOf[to];
      if (counts !== undefined && kind !== undefined) counts[kind] = vms;
    }
    const { vms, ...totals } = total;
    return { vms, totals, since: at(0), bars, barSeconds };
  });
}

interface Changed extends Record<string, unknown> {
  /** Index of the bar; null if the row counts changes of the whole hour. */
  bar: number | null;
  to: VmHealth;
  /** Whether the row counts changes to any health. */
  isAny: boolean;
  vms: number;
}

async function readChanges(ctx: Context, begin: number): Promise<Changed[]> {
  const { rows } = await ctx.db.execute<Changed>(sql`
    select bar, "to", grouping("to") = 1 as "isAny", count(distinct vm_id)::int as vms from (
      select floor((extract(epoch from t.at) - ${begin / 1000}::int) / ${barSeconds}::int)::int as bar, t."to", vm_id
      from ${healthTransitions} t join ${vmHealth} using (vm_id)
      where t.extension is null and t.kind = 'health' and t."from" is not null and t.at >= ${new Date(begin)}) changes
    group by grouping sets ((bar, "to"), (bar), ("to"), ())`);
  return rows;
}
