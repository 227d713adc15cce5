import type { NodePgDatabase } from 'drizzle-orm/node-postgres';

type Work = () => Promise<void>;

/** The work that was registered in an outermost transaction. */
interface Hooks {
  beforeCommit: Work[];
  /** Items of `collectBeforeCommit`, by name. */
  items: Map<string, unknown[]>;
  afterRollback: Work[];
}

const hooksOf = new WeakMap<object, Hooks>();

function requireHooks(tx: object, caller: string): Hooks {
  const hooks = hooksOf.get(tx);
  if (hooks === undefined) throw new Error(`${caller} needs a transaction of openDatabase, not a savepoint`);
  return hooks;
}

/**
 * Runs `work` after the transaction has failed and its client has been released. For writes that must survive a
 * rejection.
 */
export function afterRollback(tx: object, work: Work): void {
  requireHooks(tx, 'afterRollback').afterRollback.push(work);
}

/**
 * Collects items and processes them together in the last statements of the transaction. Use it for a lock that every
 * writer takes, so that the lock is held as briefly as possible and never while waiting for another lock. The first
 * call for a name defines the work for all its items.
 */
export function collectBeforeCommit<Item>(
  tx: object,
  name: string,
  item: Item,
  work: (items: readonly Item[]) => Promise<void>,
): void {
  const hooks = requireHooks(tx, 'collectBeforeCommit');
  const known = hooks.items.get(name);
  if (known !== undefined) {
    known.push(item);
    return;
  }
  const items = [item];
  hooks.items.set(name, items);
  hooks.beforeCommit.push(() => work(items));
}

/**
 * Makes every outermost transaction of this database run its hooks. A failed transaction throws its own error, even if
 * work after the rollback fails too.
 */
export function addTransactionHooks<Schema extends Record<string, unknown>>(db: NodePgDatabase<Schema>): void {
  const begin = db.transaction.bind(db);
  db.transaction = async (run, config) => {
    const hooks: Hooks = { beforeCommit: [], items: new Map(), afterRollback: [] };
    try {
      return await begin(async (tx) => {
        hooksOf.set(tx, hooks);
        const result = await run(tx);
        for (const work of hooks.beforeCommit) await work();
        return result;
      }, config);
    } catch (error) {
      await Promise.allSettled(hooks.afterRollback.map((work) => work()));
      throw error;
    }
  };
}
