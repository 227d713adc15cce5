import { type SQL, sql } from 'drizzle-orm';

/** A transaction, or anything else that runs statements. */
interface Runner {
  execute(statement: SQL): PromiseLike<unknown>;
}

/** A database, which starts transactions, or a transaction, which starts savepoints. */
interface Beginner extends Runner {
  transaction(run: (tx: Beginner) => Promise<unknown>, config?: never): Promise<unknown>;
}

/** Publishes messages over a transport other than the database. */
export type Publish = (channel: string, payloads: readonly string[]) => void;

const posts = new WeakMap<object, Publish>();

/**
 * Notifies all listeners of a channel on commit; a rollback sends nothing. Pass several payloads in one call, because
 * each call runs a statement. A payload is an id or a few words; PostgreSQL accepts at most 7,999 bytes.
 */
export async function tell(tx: Runner, channel: string, payloads: readonly string[]): Promise<void> {
  if (payloads.length === 0) return;
  const post = posts.get(tx);
  if (post !== undefined) return post(channel, payloads);
  await tx.execute(sql`select pg_notify(${channel}, p) from unnest(${sql.param(payloads)}::text[]) p`);
}

/** Whether messages are sent by NOTIFY. If so, an SQL statement can send its own message. */
export function tellsByStatement(db: Runner): boolean {
  return !posts.has(db);
}

/**
 * Makes a database publish the messages of its transactions after the commit and before the caller continues. If the
 * process dies in between, no message is sent, so listeners also check every few seconds.
 */
export function tellAfterCommit(db: Beginner, publish: Publish): void {
  posts.set(db, publish);
  const begin = db.transaction.bind(db);
  db.transaction = async (run, config) => {
    const kept: { channel: string; payloads: readonly string[] }[] = [];
    const result = await begin((tx) => {
      tellAfterCommit(tx, (channel, payloads) => kept.push({ channel, payloads }));
      return run(tx);
    }, config);
    for (const { channel, payloads } of kept) publish(channel, payloads);
    return result;
  };
}

/** Makes a database publish as `other` does, for a second pool of the same process. */
export function publishLike(db: Beginner, other: Beginner): void {
  const post = posts.get(other);
  if (post !== undefined) tellAfterCommit(db, post);
}
