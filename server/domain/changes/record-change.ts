import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';

/** What a screen may watch. */
export type ChangeTopic = 'vm' | 'handler' | 'publisher' | 'member' | 'invitation' | 'token';

/** Channel on which the ids of changes are told after the commit. */
export const changesChannel = 'annex_changes';

/**
 * Leaves a row for screens that catch up and tells those that listen, both with the commit.
 * One call per transaction and thing: notifications serialise commits.
 */
export async function recordChange(tx: Transaction, topic: ChangeTopic, key: string): Promise<void> {
  await tx.execute(sql`
    with c as (insert into changes (topic, key) values (${topic}, ${key}) returning id)
    select pg_notify(${changesChannel}, json_build_object('id', id, 'topic', ${topic}::text, 'key', ${key}::text)::text) from c`);
}
