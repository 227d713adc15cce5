import { type SQL, sql } from 'drizzle-orm';

/** A transaction, or whatever runs statements. */
interface Runner {
  execute(statement: SQL): PromiseLike<unknown>;
}

/**
 * Tells everyone who listens on the channel, with the commit and never without it. One call for many payloads:
 * notifications serialise commits. A payload is an id or a few words: PostgreSQL takes 7,999 bytes.
 */
export async function tell(tx: Runner, channel: string, payloads: readonly string[]): Promise<void> {
  if (payloads.length === 0) return;
  await tx.execute(sql`select pg_notify(${channel}, p) from unnest(${sql.param(payloads)}::text[]) p`);
}
