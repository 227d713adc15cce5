import { sql } from 'drizzle-orm';
import { LRUCache } from 'lru-cache';
import type { Database } from '#db/client.ts';
import type { Messages } from './message.ts';
import { MessageMatcher } from './message-matcher.ts';

/** A version whose texts are to be recognised. */
export interface RecoverableVersion {
  handler: string;
  version: string;
}

/** Characters of templates that are kept compiled, of all versions together, and versions. */
const keptCharacters = 32 * 1024 * 1024;
const keptVersions = 2_000;
/** After this long it is looked whether resource files changed. */
const lookMs = 60_000;

interface Kept extends RecoverableVersion {
  /** Which files these are; empty for none. */
  revisions: string;
  /** Null where the version has no resource files. */
  matcher: MessageMatcher | null;
  characters: number;
}

/**
 * The matchers of handler versions, compiled once and kept, for agents that drop message ids. What changed is looked up
 * once a minute, for all versions in one query.
 */
export class MessageRecovery {
  readonly #db: Database;
  readonly #kept: LRUCache<string, Kept, RecoverableVersion>;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;

  constructor(db: Database) {
    this.#db = db;
    this.#kept = new LRUCache({
      max: keptVersions,
      maxSize: keptCharacters,
      // One that is larger than all may be together is kept alone: who is not kept is read and compiled at each call.
      sizeCalculation: ({ characters }) => Math.min(characters + 1, keptCharacters),
      fetchMethod: (_, __, { context }) => this.#load(context),
    });
  }

  /** The matchers of those of these versions that have resource files, by `<handler>-<version>`. */
  async matchersOf(versions: readonly RecoverableVersion[], now: Date): Promise<Map<string, MessageMatcher>> {
    await this.#lookAgain(now.getTime());
    const found = new Map<string, MessageMatcher>();
    for (const { handler, version } of versions) {
      const key = `${handler}-${version}`;
      const kept = this.#kept.get(key) ?? (await this.#kept.fetch(key, { context: { handler, version } }));
      if (kept?.matcher) found.set(key, kept.matcher);
    }
    return found;
  }

  async #load({ handler, version }: RecoverableVersion): Promise<Kept> {
    const { rows } = await this.#db.execute<{ lang: string; revision: number; messages: Messages }>(sql`
      select lang, revision, messages from resources where handler = ${handler} and version = ${version} order by lang`);
    const characters = rows.reduce(
      (sum, { messages }) => sum + Object.values(messages).reduce((length, text) => length + text.length, 0),
      0,
    );
    return {
      handler,
      version,
      revisions: rows.map(({ lang, revision }) => `${lang} ${revision}`).join(),
      matcher: rows.length === 0 ? null : new MessageMatcher(new Map(rows.map((row) => [row.lang, row.messages]))),
      characters,
    };
  }

  async #lookAgain(now: number): Promise<void> {
    if (this.#looking === null && now - this.#lookedAt >= lookMs) {
      this.#lookedAt = now;
      this.#looking = this.#dropChanged().finally(() => {
        this.#looking = null;
      });
    }
    await this.#looking;
  }

  async #dropChanged(): Promise<void> {
    const kept = [...this.#kept.values()].map(({ handler, version, revisions }) => ({ handler, version, revisions }));
    if (kept.length === 0) return;
    const { rows } = await this.#db.execute<{ key: string }>(sql`
      select k.handler || '-' || k.version as key
      from jsonb_to_recordset(${JSON.stringify(kept)}::jsonb) k(handler text, version text, revisions text)
      left join lateral (
        select string_agg(r.lang || ' ' || r.revision, ',' order by r.lang) as revisions
        from resources r where r.handler = k.handler and r.version = k.version
      ) r on true
      where coalesce(r.revisions, '') <> k.revisions`);
    for (const { key } of rows) this.#kept.delete(key);
  }
}
