import { sql } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { lastLanguage, type WantedLanguage } from '#protocol/index.ts';
import type { Messages, Resources } from './message.ts';

/** Message ids of a version that are about to be shown. */
export interface RequestedMessages {
  handler: string;
  version: string;
  ids: readonly string[];
}

/**
 * Loads the requested templates with one query. The query reads only these ids, in the requested languages and English,
 * because a version can have thousands of messages. The result is not cached, so a new file applies immediately
 * (AZ-L2). The templates are keyed by `<handler>-<version>`.
 */
export async function findMessages(
  db: Database | Transaction,
  versions: readonly RequestedMessages[],
  wanted: readonly WantedLanguage[],
): Promise<Map<string, Resources>> {
  const requested = versions.filter(({ ids }) => ids.length > 0);
  if (requested.length === 0) return new Map();
  const languages = new Set([...wanted.flatMap((language) => language.fallbacks), lastLanguage]);
  const result = await db.execute<{ handler: string; version: string; lang: string; messages: Messages }>(sql`
    select r.handler, r.version, r.lang, (
      select coalesce(jsonb_object_agg(id, r.messages -> id), '{}')
      from jsonb_array_elements_text(a.ids) id where r.messages ? id
    ) as messages
    from jsonb_to_recordset(${JSON.stringify(requested)}::jsonb) a(handler text, version text, ids jsonb)
    join resources r on r.handler = a.handler and r.version = a.version
    where r.lang = any (${sql.param([...languages])}::text[])`);
  const found = new Map<string, Map<string, Messages>>();
  for (const { handler, version, lang, messages } of result.rows) {
    const key = `${handler}-${version}`;
    const languages = found.get(key) ?? new Map<string, Messages>();
    found.set(key, languages.set(lang, messages));
  }
  return found;
}
