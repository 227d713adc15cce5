import { sql } from 'drizzle-orm';
import { lastLanguage } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { hasText } from './has-text.ts';
import { type GetResourcesInput, getResourcesInput } from './input.ts';
import { loadVersion } from './load-version.ts';

/** Coverage of a language in numbers. */
export interface LanguageCoverage {
  lang: string;
  translated: number;
  /** Number of English messages, or of the language's own messages if there are no English messages. */
  total: number;
}

/**
 * Returns the coverage of a version's languages, English first, without loading their messages. Throws 404
 * `version_unknown`.
 */
export async function getCoverage(
  ctx: Context,
  input: GetResourcesInput,
): Promise<{ handler: string; version: string; languages: LanguageCoverage[] }> {
  allow(ctx.actor, 'viewer');
  const { handler, version } = await loadVersion(ctx.db, parse(getResourcesInput, input));
  // Blank messages count as missing.
  const result = await ctx.db.execute<{ lang: string; own: string; shared: string; english: string }>(sql`
    with texts as materialized (
      select r.lang, m.key as id from resources r
      left join lateral jsonb_each_text(r.messages) m on ${hasText(sql`m.value`)}
      where r.handler = ${handler} and r.version = ${version}
    ), english as (select id from texts where lang = ${lastLanguage} and id is not null)
    select t.lang, count(t.id) as own, count(e.id) as shared,
      (select count(*) from english) as english
    from texts t left join english e on e.id = t.id
    group by t.lang order by t.lang <> ${lastLanguage}, t.lang`);
  const hasEnglish = result.rows.some(({ lang }) => lang === lastLanguage);
  return {
    handler,
    version,
    languages: result.rows.map(({ lang, own, shared, english }) => ({
      lang,
      translated: Number(hasEnglish ? shared : own),
      total: Number(hasEnglish ? english : own),
    })),
  };
}
