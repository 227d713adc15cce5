import type { NodePgDatabase } from 'drizzle-orm/node-postgres';

type Work = () => Promise<void>;

/** The work of a transaction, and the items that it collected by name. */
interface Pending {
  works: Work[];
  items: Map<string, unknown[]>;
}

const pending = new WeakMap<object, Pending>();

/**
 * Collects items and processes them together as the last statements of the transaction: for a lock that every writer
 * takes, so that it is held as briefly as possible and never while another lock is waited for. The first call of a name
 * says what happens with all its items. Only for the outermost transaction.
 */
export function collectBeforeCommit<Item>(
  tx: object,
  name: string,
  item: Item,
  work: (items: readonly Item[]) => Promise<void>,
): void {
  const own = pending.get(tx);
  if (own === undefined) throw new Error('collectBeforeCommit needs a transaction of openDatabase, not a savepoint');
  const known = own.items.get(name);
  if (known !== undefined) {
    known.push(item);
    return;
  }
  const items = [item];
  own.items.set(name, items);
  own.works.push(() => work(items));
}

/** Makes every transaction of this database process what it collected. A transaction that fails processes nothing. */
export function runBeforeCommit<Schema extends Record<string, unknown>>(db: NodePgDatabase<Schema>): void {
  const begin = db.transaction.bind(db);
  db.transaction = (run, config) =>
    begin(async (tx) => {
      const own: Pending = { works: [], items: new Map() };
      pending.set(tx, own);
      const result = await run(tx);
      for (const work of own.works) await work();
      return result;
    }, config);
}
