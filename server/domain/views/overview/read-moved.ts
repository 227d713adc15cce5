import { sql } from 'drizzle-orm';
import { healthTransitions, vmHealth } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { rankOf, type VmHealth, vmHealths } from '#server/domain/verdicts/index.ts';
import { firstBar } from './bars.ts';
import { type MapReader, shareReading } from './readings.ts';

/**
 * Changes in the last hour, by health. `came` counts the VMs that got the health, and `gone` the VMs that lost it; the
 * filtered lists of VMs show the same VMs. `more` is the number of VMs with the health now minus the number at `since`.
 */
export interface Moved {
  /** Start of the last hour, aligned to bars. */
  since: string;
  came: Map<VmHealth, number>;
  gone: Map<VmHealth, number>;
  more: Map<VmHealth, number>;
}

interface Row extends Record<string, unknown> {
  health: VmHealth;
  came: number;
  gone: number;
  more: number;
}

/**
 * For each health value, counts the VMs that got it in the last hour and still have it, and the VMs that lost it in the
 * last hour. A VM that lost a health and got it back counts in `came`. A VM that got a health and lost it counts in
 * `gone`. Neither VM affects `more`.
 */
export async function readMoved(ctx: Context & MapReader): Promise<Moved> {
  return shareReading(ctx, 'moved', async () => {
    const since = new Date(firstBar(ctx.now));
    // One query per health value, because the index on `rank` and `since` serves one rank at a time.
    const came = vmHealths.map(
      (health) => sql`select ${health} as health, count(*)::int as came, 0 as gone, 0 as more
        from ${vmHealth} where rank = ${rankOf(health)} and since >= ${since}`,
    );
    const { rows } = await ctx.db.execute<Row>(sql`
      with first as (
        select distinct on (t.vm_id) t."from", h.health from ${healthTransitions} t join ${vmHealth} h using (vm_id)
        where t.extension is null and t.kind = 'health' and t.at >= ${since} order by t.vm_id, t.at, t.id
      )
      ${sql.join(came, sql` union all `)} union all
      select t."from", 0, count(distinct t.vm_id)::int, 0 from ${healthTransitions} t join ${vmHealth} h using (vm_id)
      where t.extension is null and t.kind = 'health' and t.at >= ${since} and t."from" <> h.health group by 1
      union all
      select health, 0, 0, count(*)::int from first where "from" is distinct from health group by 1 union all
      select "from", 0, 0, -count(*)::int from first where "from" <> health group by 1`);
    const of = (kind: 'came' | 'gone' | 'more') => {
      const sums = new Map<VmHealth, number>();
      for (const row of rows) sums.set(row.health, (sums.get(row.health) ?? 0) + row[kind]);
      return sums;
    };
    return { since: since.toISOString(), came: of('came'), gone: of('gone'), more: of('more') };
  });
}
