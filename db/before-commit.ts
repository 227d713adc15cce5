import type { NodePgDatabase } from 'drizzle-orm/node-postgres';

type Work = () => Promise<void>;

const pending = new WeakMap<object, Work[]>();

/**
 * Runs the work as the last statements of the transaction: for a lock that every writer takes, so that it is held for
 * as short as possible and never while another lock is waited for. Only for the outermost transaction.
 */
export function beforeCommit(tx: object, work: Work): void {
  const works = pending.get(tx);
  if (works === undefined) throw new Error('beforeCommit needs a transaction of openDatabase, not a savepoint');
  works.push(work);
}

/** Has every transaction of this database run what `beforeCommit` collected. A transaction that fails runs none of it. */
export function runBeforeCommit<Schema extends Record<string, unknown>>(db: NodePgDatabase<Schema>): void {
  const begin = db.transaction.bind(db);
  db.transaction = (run, config) =>
    begin(async (tx) => {
      const works: Work[] = [];
      pending.set(tx, works);
      const result = await run(tx);
      for (const work of works) await work();
      return result;
    }, config);
}
