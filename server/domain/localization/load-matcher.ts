import { sql } from 'drizzle-orm';
import type { Database } from '#db/client.ts';
import type { Messages } from './message.ts';
import { MessageMatcher } from './message-matcher.ts';
import { isSettingWord } from './setting-words.ts';

/** A handler version for which ids are recovered from message texts. */
export interface RecoverableVersion {
  handler: string;
  version: string;
}

/** A version's matcher, and what it was compiled from. */
export interface LoadedMatcher extends RecoverableVersion {
  /** Languages and revisions of the resource files; empty if there are none. */
  revisions: string;
  /** Null if the version has no resource files. */
  matcher: MessageMatcher | null;
  /** Number of characters in all templates, as a measure of the matcher's memory. */
  characters: number;
}

/** Reads a version's resource files and compiles its matcher. */
export async function loadMatcher(db: Database, { handler, version }: RecoverableVersion): Promise<LoadedMatcher> {
  const { rows } = await db.execute<{ lang: string; revision: number; messages: Messages }>(sql`
    select lang, revision, messages from resources where handler = ${handler} and version = ${version} order by lang`);
  const characters = rows.reduce(
    (sum, { messages }) => sum + Object.values(messages).reduce((length, text) => length + text.length, 0),
    0,
  );
  return {
    handler,
    version,
    revisions: rows.map(({ lang, revision }) => `${lang} ${revision}`).join(),
    matcher:
      rows.length === 0 ? null : new MessageMatcher(new Map(rows.map((row) => [row.lang, reportable(row.messages)]))),
    characters,
  };
}

/** Returns the messages without the titles and descriptions of settings, which no handler reports. */
const reportable = (messages: Messages): Messages =>
  Object.fromEntries(Object.entries(messages).filter(([id]) => !isSettingWord(id)));

/**
 * Returns, as `<handler>-<version>`, the versions whose resource files have changed since they were loaded. Runs one
 * statement.
 */
export async function findOutdatedMatchers(db: Database, loaded: readonly LoadedMatcher[]): Promise<string[]> {
  if (loaded.length === 0) return [];
  const known = loaded.map(({ handler, version, revisions }) => ({ handler, version, revisions }));
  const { rows } = await db.execute<{ key: string }>(sql`
    select k.handler || '-' || k.version as key
    from jsonb_to_recordset(${JSON.stringify(known)}::jsonb) k(handler text, version text, revisions text)
    left join lateral (
      select string_agg(r.lang || ' ' || r.revision, ',' order by r.lang) as revisions
      from resources r where r.handler = k.handler and r.version = k.version
    ) r on true
    where coalesce(r.revisions, '') <> k.revisions`);
  return rows.map(({ key }) => key);
}
