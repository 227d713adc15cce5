import { performance } from 'node:perf_hooks';
import { sql } from 'drizzle-orm';
import type { Database } from '#db/client.ts';
import { extensionHealth, vmHealth } from '#db/schema/index.ts';
import { countedFleet } from '#server/domain/health/index.ts';
import { slot } from '#server/platform/process-memory.ts';
import { rankSql } from '../rank-sql.ts';
import { FleetCopy } from './fleet-copy.ts';
import {
  arrange,
  drawMap,
  type FleetMap,
  type GroupBy,
  type GroupRows,
  type MapOrder,
  worstByPlace,
} from './fleet-map.ts';
import { type MapReader, shareReading } from './readings.ts';

/** Cached maps of a process. For 100,000 VMs, a copy takes 5 MB and the positions 2 MB. */
interface Kept {
  /** Copies by grouping, the most recently requested last. */
  copies: Map<GroupBy, { copy: FleetCopy; readAt: number }>;
  /** Positions of VMs in the maps that were last returned, by revision. */
  orders: Map<string, MapOrder>;
  /**
   * Resolves when the most recently requested reading ends. Whole fleets are read one at a time, so that requests for
   * fifty tags use one connection.
   */
  lastReading: Promise<unknown>;
}

const maxCopies = 3;
const maxOrders = 6;
/** Milliseconds after which a copy is rebuilt instead of updated. */
const copyAges = 3_600_000;

const fleetMaps = slot((): Kept => ({ copies: new Map(), orders: new Map(), lastReading: Promise.resolve() }));

/** Reads the current map; concurrent requests share one reading. */
export async function readFleetMap(reader: MapReader, groupBy: GroupBy): Promise<FleetMap> {
  return shareReading(reader, `map ${groupBy}`, () => {
    const own = reader.memory.of(fleetMaps);
    const reading = own.lastReading.then(async () => {
      const { map, order } =
        groupBy === 'handler' ? await readByHandler(reader.db) : await readCopy(reader.db, own, groupBy);
      keepNewest(own.orders, order.revision, order, maxOrders);
      return map;
    });
    own.lastReading = reading.catch(() => {});
    return reading;
  });
}

/** Puts the entry at the end, and keeps only the last `most` entries. */
function keepNewest<Key, Value>(all: Map<Key, Value>, key: Key, value: Value, most: number): void {
  all.delete(key);
  all.set(key, value);
  for (const oldest of [...all.keys()].slice(0, -most)) all.delete(oldest);
}

/**
 * Returns the positions of VMs in the map with this revision; null if the fleet has changed since. The map may come
 * from another process, because the same fleet has the same revision everywhere.
 */
export async function readMapOrder(reader: MapReader, groupBy: GroupBy, revision: string): Promise<MapOrder | null> {
  const find = () => reader.memory.of(fleetMaps).orders.get(revision) ?? null;
  const known = find();
  if (known !== null) return known;
  await readFleetMap({ db: reader.db, memory: reader.memory }, groupBy);
  return find();
}

const seen = sql`pg_snapshot_xmin(pg_current_snapshot())::text as seen`;
const record = sql`uuid_send(vm_id) || int4send(hashtext(name) # jsonb_hash(tags)) || int2send(rank)`;

async function readCopy(db: Database, { copies }: Kept, groupBy: GroupBy): Promise<{ map: FleetMap; order: MapOrder }> {
  const known = copies.get(groupBy);
  const isUsable = known !== undefined && performance.now() - known.readAt < copyAges;
  const current =
    isUsable && (await bringUpToDate(db, known.copy))
      ? known
      : { copy: await rebuildCopy(db, groupBy), readAt: performance.now() };
  keepNewest(copies, groupBy, current, maxCopies);
  const { copy } = current;
  return { map: copy.map(), order: copy.order };
}

/**
 * SQL for the number of VMs according to the fleet counters. A wrong counter remains wrong by the same amount, so it
 * hides no change.
 */
const vms = sql`coalesce((select sum(n) from ${countedFleet} c where what <> 'extensions'), 0)::int as vms`;

/**
 * Brings a copy up to date. Each row contains the id of the transaction that last wrote it, so only rows of later
 * transactions, and of transactions that were open when the copy was built, are read. Ids above the current transaction
 * id come from before a restore and are ignored. The number of VMs reveals deletions.
 */
async function bringUpToDate(db: Database, copy: FleetCopy): Promise<boolean> {
  const { rows } = await db.execute<{ seen: string; vms: number; changed: Buffer | null }>(sql`
    select ${seen}, ${vms}, (
      select string_agg(${record}, ''::bytea) from ${vmHealth}
       where written_by >= ${copy.seen}::xid8 and written_by < pg_snapshot_xmax(pg_current_snapshot())
    ) as changed`);
  const now = rows[0];
  return now !== undefined && copy.take(now.seen, now.changed ?? new Uint8Array(), now.vms);
}

/** Reads the whole fleet as a single row, aggregated in index order, which needs no sort. */
async function rebuildCopy(db: Database, groupBy: GroupBy): Promise<FleetCopy> {
  const tag = groupBy === 'none' ? null : groupBy.slice('tag:'.length);
  const keys =
    tag === null
      ? sql`null`
      : sql`'[' || string_agg(coalesce((tags -> ${tag}::text)::text, 'null'), ',' order by name, vm_id) || ']'`;
  const { rows } = await db.execute<{ seen: string; vms: number; records: Buffer | null; keys: string | null }>(sql`
    select ${seen}, ${vms}, string_agg(${record}, ''::bytea order by name, vm_id) as records, ${keys} as keys
      from ${vmHealth}`);
  const { seen: upTo = '0', vms: count = 0, records = null, keys: text = null } = rows[0] ?? {};
  return new FleetCopy(
    groupBy,
    { seen: upTo, count },
    records ?? new Uint8Array(),
    text === null ? null : JSON.parse(text),
  );
}

/**
 * Reads the map grouped by handler. A VM is in the group of each of its handlers, with the worst health of that
 * handler's extensions.
 */
async function readByHandler(db: Database): Promise<{ map: FleetMap; order: MapOrder }> {
  return db.transaction(
    async (tx) => {
      const fleet = await tx.execute<{ ids: Buffer | null }>(sql`
        select string_agg(uuid_send(vm_id), ''::bytea order by name, vm_id) as ids from ${vmHealth}`);
      const { rows } = await tx.execute<{ handler: string; cells: Buffer }>(sql`
        with fleet as (select vm_id, (row_number() over (order by name, vm_id) - 1)::int as place from ${vmHealth})
        select handler, string_agg(int4send(place * 8 + ${rankSql(extensionHealth.health)}), ''::bytea) as cells
        from ${extensionHealth} join fleet using (vm_id) group by handler`);
      const groups = rows.map(({ handler, cells }): GroupRows => ({ key: handler, cells: placesIn(cells) }));
      const { order, healths } = arrange('handler', groups, fleet.rows[0]?.ids ?? new Uint8Array());
      return { order, map: drawMap(order, healths) };
    },
    { isolationLevel: 'repeatable read', accessMode: 'read only' },
  );
}

function placesIn(bytes: Buffer): Uint32Array {
  const cells = new Uint32Array(bytes.length / 4);
  for (let index = 0; index < cells.length; index += 1) cells[index] = bytes.readUInt32BE(index * 4);
  return worstByPlace(cells);
}
