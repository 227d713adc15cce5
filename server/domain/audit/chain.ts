import { and, asc, count, desc, eq, gt, gte, inArray, isNotNull, isNull, lt, or, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { auditChain, auditEntries, type ChainFault } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { isSealed, linkOf } from './seal.ts';

export type ChainHead = typeof auditChain.$inferSelect;
type Entry = typeof auditEntries.$inferSelect;
type Reader = Pick<Transaction, 'select'>;
/** The services that verification needs: the database, and the key, which is never in the database. */
export type ChainReader = Pick<Services, 'keys'> & { db: Reader };

/** The position and hash of a row, such as the current or a former head of the chain. */
export interface ChainPlace {
  position: number;
  hash: string;
}

/** The hash that the first row links to. */
export const chainStart = '';

/** The state of a walk along the chain. A later call can continue from it. */
export interface Walk {
  /** The position and hash of the last row checked; the hash is null if that row has none. */
  position: number;
  hash: string | null;
  lastId: number | null;
  /** Whether a sealed row was seen. An unsealed row after a sealed row was not written by the portal. */
  sawSeal: boolean;
}

export const walkStart: Walk = { position: 0, hash: chainStart, lastId: null, sawSeal: false };

/** Returns a walk that starts after a position known to be correct. */
export const walkFrom = ({ position, hash }: ChainPlace): Walk =>
  position === 0 ? walkStart : { position, hash, lastId: null, sawSeal: true };

/** Reads the stored head; undefined before the first entry. */
export async function readHead(db: Reader): Promise<ChainHead | undefined> {
  const [head] = await db.select().from(auditChain).where(eq(auditChain.id, 1));
  return head;
}

/** The findings of one or more steps of a walk. */
export interface Steps {
  walk: Walk;
  faults: ChainFault[];
  done: boolean;
  /** VMs that the rows are about; null for a row about something else. */
  vmIds: (string | null)[];
}

/** Checks the next rows of the chain. `done` is true at the end of the chain. */
export async function walkOn({ db, keys }: ChainReader, walk: Walk, limit: number): Promise<Steps> {
  const { id, position } = auditEntries;
  // Continues after the last row's position and id, so that a second row with the same position is not skipped between
  // two batches.
  const behind =
    walk.lastId === null
      ? gt(position, walk.position)
      : and(gte(position, walk.position), or(gt(position, walk.position), gt(id, walk.lastId)));
  const rows = await db
    .select({ row: auditEntries, micros })
    .from(auditEntries)
    .where(and(isNotNull(position), behind))
    .orderBy(asc(position), asc(id))
    .limit(limit);
  const faults: ChainFault[] = [];
  let at = walk;
  for (const { row, micros: rest } of rows) {
    faults.push(...faultOf(keys.audit, at, row, rest));
    if (row.position === at.position) {
      at = { ...at, lastId: row.id };
      continue;
    }
    at = { position: row.position ?? 0, hash: row.hash, lastId: row.id, sawSeal: at.sawSeal || row.seal !== null };
  }
  const vmIds = [...new Set(rows.map(({ row }) => row.vmId))];
  return { walk: at, faults: await nameReplayed(db, faults), done: rows.length < limit, vmIds };
}

/**
 * Microseconds of an entry's time beyond its milliseconds: always 0 in entries that the portal wrote, because its clock
 * has only milliseconds.
 */
const micros = sql<number>`(extract(microseconds from ${auditEntries.at})::bigint % 1000)::int`;

function faultOf(key: Buffer, before: Walk, row: Entry, rest: number): ChainFault[] {
  const position = row.position ?? 0;
  if (position === before.position) return [{ kind: 'replayed', id: row.id, position }];
  const missing = position !== before.position + 1;
  const faults: ChainFault[] = missing ? [{ kind: 'deleted', id: before.lastId, position: before.position + 1 }] : [];
  const hash = missing ? null : before.hash;
  const kind = ((): ChainFault['kind'] | null => {
    if (row.seal === null && before.sawSeal) return 'inserted';
    if (row.seal !== null && (rest !== 0 || !isSealed(key, row, row.seal))) return 'altered';
    if (hash === null || linkOf(key, hash, position, row) === row.hash) return null;
    return row.seal === null ? 'altered' : 'relinked';
  })();
  return kind === null ? faults : [...faults, { kind, id: row.id, position }];
}

/** Changes `relinked` to `replayed` for rows that copy the seal of an earlier row. */
async function nameReplayed(db: Reader, faults: ChainFault[]): Promise<ChainFault[]> {
  const ids = faults.flatMap(({ kind, id }) => (kind === 'relinked' && id !== null ? [id] : []));
  if (ids.length === 0) return faults;
  const seals = db.select({ seal: auditEntries.seal }).from(auditEntries).where(inArray(auditEntries.id, ids));
  const doubled = await db
    .select({ id: sql<string>`max(${auditEntries.id})` })
    .from(auditEntries)
    .where(inArray(auditEntries.seal, seals))
    .groupBy(auditEntries.seal)
    .having(gt(count(), 1));
  const copies = new Set(doubled.map(({ id }) => Number(id)));
  return faults.map((fault) =>
    fault.kind === 'relinked' && fault.id !== null && copies.has(fault.id) ? { ...fault, kind: 'replayed' } : fault,
  );
}

/** The findings of the last steps of a walk, and the stored head. */
export interface ChainEnd extends Steps {
  head: ChainHead | undefined;
}

/**
 * Ends a walk: checks the last rows, the head, the kept head, and rows that a walk does not reach. Uses one snapshot
 * for all checks, because new entries may be written while they run.
 */
export async function endWalk(
  { db, keys }: Pick<Services, 'db' | 'keys'>,
  begun: Walk,
  kept: ChainPlace | null,
): Promise<ChainEnd> {
  return db.transaction(
    async (tx) => {
      const reader = { db: tx, keys };
      const faults: ChainFault[] = [];
      const vmIds: (string | null)[] = [];
      let walk = begun;
      for (let done = false; !done; ) {
        const step = await walkOn(reader, walk, 2_000);
        faults.push(...step.faults);
        vmIds.push(...step.vmIds);
        ({ walk, done } = step);
      }
      const head = await readHead(tx);
      if (kept !== null) faults.push(...(await checkPlaces(tx, [kept])).map(({ fault }) => fault));
      faults.push(...checkHead(walk, head), ...(await checkBeforeStart(tx)), ...(await checkUnnumbered(reader)));
      return { walk, head, faults: inOrder(faults), done: true, vmIds: [...new Set(vmIds)] };
    },
    { isolationLevel: 'repeatable read', accessMode: 'read only' },
  );
}

/** Sorts faults by position, and removes duplicates that several checks found. */
function inOrder(faults: readonly ChainFault[]): ChainFault[] {
  const once = [...new Map(faults.map((fault) => [JSON.stringify(fault), fault])).values()];
  const placeOf = ({ position }: ChainFault): number => position ?? Number.POSITIVE_INFINITY;
  return once.toSorted((a, b) => (placeOf(a) === placeOf(b) ? 0 : placeOf(a) - placeOf(b)));
}

/** Finds rows below position 1, which a walk does not reach and the portal never writes. */
async function checkBeforeStart(db: Reader): Promise<ChainFault[]> {
  const rows = await db
    .select({ id: auditEntries.id, position: auditEntries.position })
    .from(auditEntries)
    .where(lt(auditEntries.position, 1))
    .orderBy(asc(auditEntries.position));
  return rows.map(({ id, position }) => ({ kind: 'inserted', id, position }));
}

/** Checks that the rows end exactly where the head says. */
function checkHead(walk: Walk, head: ChainHead | undefined): ChainFault[] {
  const end = head ?? { position: 0, hash: chainStart };
  if (end.position > walk.position) return [{ kind: 'truncated', id: walk.lastId, position: walk.position + 1 }];
  if (end.position < walk.position || (walk.hash !== null && end.hash !== walk.hash)) {
    return [{ kind: 'relinked', id: walk.lastId, position: walk.position }];
  }
  return [];
}

/** Returns the former heads that are no longer part of the chain, each with the fault that explains why. */
export async function checkPlaces<Place extends ChainPlace>(
  db: Reader,
  places: readonly Place[],
): Promise<{ place: Place; fault: ChainFault }[]> {
  const { id, position, hash } = auditEntries;
  const numbers = places.map((place) => place.position);
  const rows =
    numbers.length === 0
      ? []
      : await db.select({ id, position, hash }).from(auditEntries).where(inArray(position, numbers));
  const found = new Map(rows.map((row) => [row.position, row]));
  const [last] = await db
    .select({ id, position })
    .from(auditEntries)
    .where(isNotNull(position))
    .orderBy(desc(position))
    .limit(1);
  const end = last?.position ?? 0;
  return places.flatMap((place) => {
    const row = found.get(place.position);
    if (place.position === 0 || row?.hash === place.hash) return [];
    const fault = ((): ChainFault => {
      if (row !== undefined) return { kind: 'relinked', id: row.id, position: place.position };
      if (place.position <= end) return { kind: 'deleted', id: null, position: place.position };
      return { kind: 'truncated', id: last?.id ?? null, position: end + 1 };
    })();
    return [{ place, fault }];
  });
}

/** Finds rows without a position: they were removed from the chain, or the portal did not write them. */
async function checkUnnumbered({ db, keys }: ChainReader): Promise<ChainFault[]> {
  const rows = await db
    .select()
    .from(auditEntries)
    .where(isNull(auditEntries.position))
    .orderBy(asc(auditEntries.id))
    .limit(1_000);
  return nameReplayed(
    db,
    rows.map((row) => ({
      kind: row.seal !== null && isSealed(keys.audit, row, row.seal) ? 'relinked' : 'inserted',
      id: row.id,
      position: null,
    })),
  );
}
