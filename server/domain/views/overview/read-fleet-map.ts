import { sql } from 'drizzle-orm';
import type { Database } from '#db/client.ts';
import { extensionHealth, vmHealth } from '#db/schema/index.ts';
import { type FleetMap, type GroupBy, type GroupRows, type MapOrder, makeFleetMap } from './fleet-map.ts';
import { shareReading } from './shared-reading.ts';

/** Which VM stands where in the maps that were given out last: two of 100,000 VMs are 3 MB. */
const mostOrders = 6;
const orders = new WeakMap<Database, Map<string, MapOrder>>();

/** Reads the map as it is now, once for all who ask at the same time. */
export async function readFleetMap(db: Database, groupBy: GroupBy): Promise<FleetMap> {
  return shareReading(db, `map ${groupBy}`, async () => {
    const { order, ...map } = await inTurn(db, () => read(db, groupBy));
    const kept = orders.get(db) ?? new Map<string, MapOrder>();
    orders.set(db, kept);
    kept.delete(map.revision);
    kept.set(map.revision, order);
    for (const oldest of [...kept.keys()].slice(0, -mostOrders)) kept.delete(oldest);
    return map;
  });
}

const lastReadings = new WeakMap<Database, Promise<unknown>>();

/** One reading of a whole fleet after the other: who asks for it by fifty tags at once takes one connection. */
function inTurn<Result>(db: Database, begin: () => Promise<Result>): Promise<Result> {
  const mine = (lastReadings.get(db) ?? Promise.resolve()).then(begin);
  lastReadings.set(
    db,
    mine.catch(() => {}),
  );
  return mine;
}

/**
 * Which VM stands where in the map of that revision; null where the fleet has changed since. Another process may have
 * given the map out: the same fleet has the same revision everywhere.
 */
export async function readMapOrder(db: Database, groupBy: GroupBy, revision: string): Promise<MapOrder | null> {
  const find = () => orders.get(db)?.get(revision) ?? null;
  const known = find();
  if (known !== null) return known;
  await readFleetMap(db, groupBy);
  return find();
}

async function read(db: Database, groupBy: GroupBy): Promise<FleetMap & { order: MapOrder }> {
  if (groupBy === 'handler') return readByHandler(db);
  // Aggregates in the index's order: one walk without a sort, one row for the driver.
  const tag = groupBy === 'none' ? null : groupBy.slice('tag:'.length);
  const value = tag === null ? sql`null::jsonb` : sql`jsonb_agg(tags -> ${tag}::text order by name, vm_id)`;
  const { rows } = await db.execute<{ ids: Buffer | null; ranks: string | null; values: (string | null)[] | null }>(sql`
    select string_agg(uuid_send(vm_id), ''::bytea order by name, vm_id) as ids,
      string_agg(rank::text, '' order by name, vm_id) as ranks, ${value} as values
    from ${vmHealth}`);
  const { ids, ranks, values } = rows[0] ?? { ids: null, ranks: null, values: null };
  if (ids === null || ranks === null) return makeFleetMap(groupBy, [], new Uint8Array());
  const zero = '0'.charCodeAt(0);
  const cellsOf = new Map<string | null, number[]>();
  for (let index = 0; index < ranks.length; index += 1) {
    const key = values?.[index] ?? null;
    const cells = cellsOf.get(key) ?? [];
    if (cells.length === 0) cellsOf.set(key, cells);
    cells.push(index * 8 + ranks.charCodeAt(index) - zero);
  }
  const groups = [...cellsOf].map(([key, cells]): GroupRows => ({ key, cells: Uint32Array.from(cells) }));
  return makeFleetMap(groupBy, groups, ids);
}

/** A VM stands in the group of every handler that it has, with the worst health of that handler's extensions. */
async function readByHandler(db: Database): Promise<FleetMap & { order: MapOrder }> {
  return db.transaction(
    async (tx) => {
      const fleet = await tx.execute<{ ids: Buffer | null }>(sql`
        select string_agg(uuid_send(vm_id), ''::bytea order by name, vm_id) as ids from ${vmHealth}`);
      const { rows } = await tx.execute<{ handler: string; cells: Buffer }>(sql`
        with fleet as (select vm_id, (row_number() over (order by name, vm_id) - 1)::int as place from ${vmHealth})
        select handler, string_agg(int4send(place * 8 + case health
          when 'failed' then 0 when 'unresponsive' then 1 when 'degraded' then 2 when 'progressing' then 3
          when 'unknown' then 4 when 'healthy' then 5 else 6 end), ''::bytea) as cells
        from ${extensionHealth} join fleet using (vm_id) group by handler`);
      const groups = rows.map(({ handler, cells }): GroupRows => ({ key: handler, cells: worstByPlace(cells) }));
      return makeFleetMap('handler', groups, fleet.rows[0]?.ids ?? new Uint8Array());
    },
    { isolationLevel: 'repeatable read', accessMode: 'read only' },
  );
}

/** Sorted by place; of several extensions of one VM the worst, whose number is the smallest. */
function worstByPlace(bytes: Buffer): Uint32Array {
  const cells = new Uint32Array(bytes.length / 4);
  for (let index = 0; index < cells.length; index += 1) cells[index] = bytes.readUInt32BE(index * 4);
  cells.sort();
  return cells.filter((cell, index) => index === 0 || cell >>> 3 !== (cells[index - 1] ?? 0) >>> 3);
}
