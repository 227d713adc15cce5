import { sql } from 'drizzle-orm';
import { healthTransitions, vmHealth } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { rankOf, type VmHealth, vmHealths } from '#server/domain/verdicts/index.ts';
import { firstBar } from './bars.ts';
import { type MapReader, shareReading } from './readings.ts';

/** How many VMs got and lost each health within the hour. Every number equals the number of VMs in a filtered list. */
export interface Moved {
  /** The beginning of the hour. */
  since: string;
  came: Map<VmHealth, number>;
  gone: Map<VmHealth, number>;
}

/**
 * For each health value, counts the VMs that got it within the hour and still have it, and the VMs that lost it within
 * the hour.
 */
export async function readMoved(ctx: Context & MapReader): Promise<Moved> {
  return shareReading(ctx, 'moved', async () => {
    const since = new Date(firstBar(ctx.now));
    // An index contains the times of each health value.
    const came = vmHealths.map(
      (health) => sql`select ${health} as health, count(*)::int as came, 0 as gone
        from ${vmHealth} where rank = ${rankOf(health)} and since >= ${since}`,
    );
    const { rows } = await ctx.db.execute<{ health: VmHealth; came: number; gone: number }>(sql`
      ${sql.join(came, sql` union all `)} union all
      select t."from", 0, count(distinct t.vm_id)::int from ${healthTransitions} t join ${vmHealth} h using (vm_id)
      where t.extension is null and t.kind = 'health' and t.at >= ${since} and t."from" <> h.health group by 1`);
    const of = (kind: 'came' | 'gone') =>
      new Map(rows.filter((row) => row[kind] > 0).map((row) => [row.health, row[kind]]));
    return { since: since.toISOString(), came: of('came'), gone: of('gone') };
  });
}
