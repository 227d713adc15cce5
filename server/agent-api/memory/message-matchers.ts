import { LRUCache } from 'lru-cache';
import type { Database } from '#db/client.ts';
import {
  findOutdatedMatchers,
  type LoadedMatcher,
  loadMatcher,
  type MessageMatcher,
  type RecoverableVersion,
} from '#server/domain/localization/index.ts';

/** Limits on the cache: characters of all compiled templates, and number of versions. */
const maxCharacters = 32 * 1024 * 1024;
const maxVersions = 2_000;
const checkMs = 60_000;

/**
 * Caches the compiled message matchers of handler versions, for agents that drop message ids. Once a minute, a single
 * statement finds the versions whose resource files have changed.
 */
export class MessageMatchers {
  readonly #db: Database;
  readonly #cache: LRUCache<string, LoadedMatcher, RecoverableVersion>;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #checking: Promise<void> | null = null;

  constructor(db: Database) {
    this.#db = db;
    this.#cache = new LRUCache({
      max: maxVersions,
      maxSize: maxCharacters,
      // A version that is larger than the whole cache is cached alone. Otherwise, each call would compile its templates
      // again.
      sizeCalculation: ({ characters }) => Math.min(characters + 1, maxCharacters),
      fetchMethod: (_, __, { context }) => loadMatcher(db, context),
    });
  }

  /** Returns the matchers of the versions that have resource files, by `<handler>-<version>`. */
  async find(versions: readonly RecoverableVersion[], now: Date): Promise<Map<string, MessageMatcher>> {
    await this.#dropOutdated(now.getTime());
    const found = new Map<string, MessageMatcher>();
    for (const { handler, version } of versions) {
      const key = `${handler}-${version}`;
      const loaded = this.#cache.get(key) ?? (await this.#cache.fetch(key, { context: { handler, version } }));
      if (loaded?.matcher) found.set(key, loaded.matcher);
    }
    return found;
  }

  async #dropOutdated(now: number): Promise<void> {
    if (this.#checking === null && now - this.#checkedAt >= checkMs) {
      this.#checkedAt = now;
      this.#checking = findOutdatedMatchers(this.#db, [...this.#cache.values()])
        .then((keys) => {
          for (const key of keys) this.#cache.delete(key);
        })
        .finally(() => {
          this.#checking = null;
        });
    }
    await this.#checking;
  }
}
