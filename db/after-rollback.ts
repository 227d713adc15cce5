import type { NodePgDatabase } from 'drizzle-orm/node-postgres';

type Work = () => Promise<void>;

const pending = new WeakMap<object, Work[]>();

/** Runs the work once the transaction has failed and its client is free again: for what must outlive a rejection. Only for the outermost transaction. */
export function afterRollback(tx: object, work: Work): void {
  const works = pending.get(tx);
  if (works === undefined) throw new Error('afterRollback needs a transaction of openDatabase, not a savepoint');
  works.push(work);
}

/** Has every failed transaction of this database run what `afterRollback` collected. The transaction's own error is thrown, whatever becomes of the work. */
export function runAfterRollback<Schema extends Record<string, unknown>>(db: NodePgDatabase<Schema>): void {
  const begin = db.transaction.bind(db);
  db.transaction = async (run, config) => {
    const works: Work[] = [];
    try {
      return await begin(async (tx) => {
        pending.set(tx, works);
        return run(tx);
      }, config);
    } catch (error) {
      await Promise.allSettled(works.map((work) => work()));
      throw error;
    }
  };
}
