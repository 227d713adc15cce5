import { eq, sql } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { fleetCountChecks, fleetCountDeltas } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';

/** Number of VMs per health value, and number of `extensions`. Zero counts may be missing. */
export type FleetCounts = Readonly<Record<string, number>>;

/** Query for the current counts: folded counts plus stored differences. */
export const countedFleet = sql`(select what, sum(n)::int as n from (
  select what, n from fleet_counts union all select what, n from fleet_count_deltas) all_of_it group by what)`;

/** Reads the current counts without reading the VMs. */
export async function readFleetCounts(db: Database): Promise<FleetCounts> {
  const { rows } = await db.execute<{ what: string; n: number }>(sql`select what, n from ${countedFleet} counted`);
  return Object.fromEntries(rows.map(({ what, n }) => [what, n]));
}

/** Stores the differences that a transaction makes to the counts. */
export async function addToCounts(tx: Transaction, added: ReadonlyMap<string, number>): Promise<void> {
  const rows = [...added].filter(([, n]) => n !== 0).map(([what, n]) => ({ what, n }));
  if (rows.length > 0) await tx.insert(fleetCountDeltas).values(rows);
}

/** Adds the stored differences to the counts. Returns the number of differences. */
export async function foldCounts({ db }: Pick<Services, 'db'>): Promise<number> {
  const { rows } = await db.execute<{ notes: number }>(sql`
    with gone as (delete from fleet_count_deltas returning what, n),
    folded as (
      insert into fleet_counts as c (what, n) select what, sum(n) from gone group by what order by what
      on conflict (what) do update set n = c.n + excluded.n
    )
    select count(*)::int as notes from gone`);
  return rows[0]?.notes ?? 0;
}

/**
 * Counts the whole fleet and corrects wrong counts. Returns the corrections; empty if all counts were right. The
 * overview shows the result.
 */
export async function checkCounts({ db }: Pick<Services, 'db'>, now: Date): Promise<FleetCounts> {
  return db.transaction(async (tx) => {
    // Disables parallel workers, because the check is not urgent and reports need the cores.
    await tx.execute(sql`set local max_parallel_workers_per_gather = 0`);
    // Compares within one snapshot and corrects by the difference, so that writers need not stop.
    const { rows } = await tx.execute<{ what: string; difference: number }>(sql`
      with found as (
        select health as what, count(*)::int as n from vm_health group by health
        union all select 'extensions', count(*)::int from extension_health
      ), wrong as (
        select what, coalesce(f.n, 0) - coalesce(c.n, 0) as n from found f full join ${countedFleet} c using (what)
         where coalesce(f.n, 0) <> coalesce(c.n, 0)
      ), mended as (insert into fleet_count_deltas (what, n) select what, n from wrong)
      select what, n as difference from wrong`);
    const difference = Object.fromEntries(rows.map((row) => [row.what, row.difference]));
    const found = rows.length > 0 ? { disagreedAt: now, difference } : {};
    await tx
      .insert(fleetCountChecks)
      .values({ id: 1, checkedAt: now, ...found })
      .onConflictDoUpdate({ target: fleetCountChecks.id, set: { checkedAt: now, ...found } });
    return difference;
  });
}

/** When the counts were last compared with the rows, and when they were last wrong; null if never. */
export interface CountCheck {
  checkedAt: string;
  disagreedAt: string | null;
}

/** Reads the result of the last check; null if there was none. */
export async function readCountCheck(db: Database): Promise<CountCheck | null> {
  const [row] = await db.select().from(fleetCountChecks).where(eq(fleetCountChecks.id, 1));
  if (row === undefined) return null;
  return { checkedAt: row.checkedAt.toISOString(), disagreedAt: row.disagreedAt?.toISOString() ?? null };
}
