import { and, asc, eq, gt, isNotNull, isNull, lt, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { auditAnchors, auditChain, auditEntries, type ChainFault } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { isSealed, linkOf } from './seal.ts';

export type ChainHead = typeof auditChain.$inferSelect;
type Entry = typeof auditEntries.$inferSelect;
type Reader = Pick<Transaction, 'select'>;
/** What a look at the chain needs: the rows, and the key that no database knows. */
export type ChainReader = Pick<Services, 'keys'> & { db: Reader };

/** Before the first row. */
export const chainStart = '';

/** Where a walk along the chain stands; a walk may be laid down and taken up again. */
export interface Walk {
  /** Last place that was looked at, and the hash there; null where a row is missing and nobody knows it. */
  position: number;
  hash: string | null;
  lastId: number | null;
  /** From the first sealed row on, rows without a seal were not written by the portal. */
  sawSeal: boolean;
}

export const walkStart: Walk = { position: 0, hash: chainStart, lastId: null, sawSeal: false };

/** The one row of the head; undefined before anything was linked. */
export async function readHead(db: Reader): Promise<ChainHead | undefined> {
  const [head] = await db.select().from(auditChain).where(eq(auditChain.id, 1));
  return head;
}

/** Looks at the next rows of the chain; `done` at its end. */
export async function walkOn(
  { db, keys }: ChainReader,
  walk: Walk,
  limit: number,
): Promise<{ walk: Walk; faults: ChainFault[]; done: boolean }> {
  const rows = await db
    .select({ row: auditEntries, micros: micros })
    .from(auditEntries)
    .where(and(isNotNull(auditEntries.position), gt(auditEntries.position, walk.position)))
    .orderBy(asc(auditEntries.position))
    .limit(limit);
  const faults: ChainFault[] = [];
  let at = walk;
  for (const { row, micros: rest } of rows) {
    const position = row.position ?? 0;
    if (position !== at.position + 1) {
      faults.push({ kind: 'removed', id: at.lastId, position: at.position + 1 });
      at = { ...at, hash: null };
    }
    const kind = faultOf(keys.audit, at, row, position) ?? (row.seal !== null && rest !== 0 ? 'altered' : null);
    if (kind !== null) faults.push({ kind, id: row.id, position });
    at = { position, hash: row.hash, lastId: row.id, sawSeal: at.sawSeal || row.seal !== null };
  }
  return { walk: at, faults, done: rows.length < limit };
}

/** The portal's clock has milliseconds: what is below came from elsewhere. */
const micros = sql<number>`(extract(microseconds from ${auditEntries.at})::bigint % 1000)::int`;

function faultOf(key: Buffer, before: Walk, row: Entry, position: number): ChainFault['kind'] | null {
  if (row.seal === null && before.sawSeal) return 'foreign';
  if (row.seal !== null && !isSealed(key, row, row.seal)) return 'altered';
  if (before.hash === null || linkOf(key, before.hash, position, row) === row.hash) return null;
  return row.seal === null ? 'altered' : 'moved';
}

/** What a walk to the very end found. */
export interface ChainEnd {
  walk: Walk;
  faults: ChainFault[];
  unlinked: number;
  head: ChainHead | undefined;
}

/**
 * Ends a walk: the last rows, head, anchors and what is not linked yet, all as of one moment, because the worker goes
 * on linking.
 */
export async function endWalk({ db, keys }: Pick<Services, 'db' | 'keys'>, begun: Walk): Promise<ChainEnd> {
  return db.transaction(
    async (tx) => {
      const reader = { db: tx, keys };
      const faults: ChainFault[] = [];
      let walk = begun;
      for (let done = false; !done; ) {
        const step = await walkOn(reader, walk, 2_000);
        faults.push(...step.faults);
        ({ walk, done } = step);
      }
      const head = await readHead(tx);
      faults.push(...(await checkBeforeStart(tx)), ...(await checkLength(tx, walk, head)));
      const unlinked = await checkUnlinked(reader, walk.sawSeal);
      return { walk, head, unlinked: unlinked.count, faults: [...faults, ...unlinked.faults] };
    },
    { isolationLevel: 'repeatable read', accessMode: 'read only' },
  );
}

/** Places count from 1: no walk meets a row that stands before the first one, and the portal never put it there. */
async function checkBeforeStart(db: Reader): Promise<ChainFault[]> {
  const rows = await db
    .select({ id: auditEntries.id, position: auditEntries.position })
    .from(auditEntries)
    .where(lt(auditEntries.position, 1))
    .orderBy(asc(auditEntries.position));
  return rows.map(({ id, position }) => ({ kind: 'foreign', id, position }));
}

/** What head and anchors know of the chain that its rows do not say: that it was once longer, or another. */
async function checkLength(db: Reader, walk: Walk, head: ChainHead | undefined): Promise<ChainFault[]> {
  const faults: ChainFault[] = [];
  const gone = await db
    .select({ position: auditAnchors.position })
    .from(auditAnchors)
    .leftJoin(
      auditEntries,
      and(eq(auditEntries.position, auditAnchors.position), eq(auditEntries.hash, auditAnchors.hash)),
    )
    .where(isNull(auditEntries.id))
    .orderBy(asc(auditAnchors.position));
  for (const { position } of gone) faults.push({ kind: 'cut', id: null, position });
  const ends = head ?? { position: 0, hash: chainStart };
  if (ends.position > walk.position) faults.push({ kind: 'cut', id: walk.lastId, position: walk.position + 1 });
  else if (ends.position < walk.position || (walk.hash !== null && ends.hash !== walk.hash)) {
    faults.push({ kind: 'moved', id: walk.lastId, position: walk.position });
  }
  return faults;
}

/** Rows that wait for their link: how many, and those among them that the portal did not write. */
async function checkUnlinked(
  { db, keys }: ChainReader,
  sawSeal: boolean,
): Promise<{ count: number; faults: ChainFault[] }> {
  const faults: ChainFault[] = [];
  let count = 0;
  for (let after = 0; ; ) {
    const rows = await db
      .select()
      .from(auditEntries)
      .where(and(isNull(auditEntries.position), gt(auditEntries.id, after)))
      .orderBy(asc(auditEntries.id))
      .limit(1_000);
    for (const row of rows) {
      count += 1;
      after = row.id;
      if (row.seal === null ? sawSeal : !isSealed(keys.audit, row, row.seal)) {
        faults.push({ kind: row.seal === null ? 'foreign' : 'altered', id: row.id, position: null });
      }
    }
    if (rows.length < 1_000) return { count, faults };
  }
}
