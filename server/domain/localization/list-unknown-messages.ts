import { sql } from 'drizzle-orm';
import { fallbacks, lastLanguage } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { hasText } from './has-text.ts';
import { type ListUnknownMessagesInput, listUnknownMessagesInput } from './input.ts';

/** A message id that VMs reported but that has no message. */
export interface UnknownMessage {
  id: string;
  /** The params in the last report. */
  params: string[];
  /** Number of reported documents with this id, in all listed versions. */
  reports: number;
  lastSeenAt: Date;
  /** Versions for which VMs reported the id, but that have no message for it; highest first. */
  versions: string[];
}

const listed = 100;

/**
 * Lists ids that VMs reported although the handler version has no message for them, most recently seen first. For `en`,
 * these are the ids without an English message; for another language, the ids that have an English message but no
 * message in that language or its fallbacks other than English.
 */
export async function listUnknownMessages(
  ctx: Context,
  input: ListUnknownMessagesInput,
): Promise<{ items: UnknownMessage[]; total: number }> {
  allow(ctx.actor, 'viewer');
  const { handler, lang } = parse(listUnknownMessagesInput, input);
  const wanted = fallbacks(lang);
  const isEnglish = wanted.includes(lastLanguage);
  const hasOwn = sql`exists (select from texts t where t.version = m.version and t.id = m.id and t.lang <> ${lastLanguage})`;
  const hasEnglish = sql`exists (select from texts t where t.version = m.version and t.id = m.id and t.lang = ${lastLanguage})`;
  const lacks = isEnglish ? sql`not ${hasEnglish}` : sql`${hasEnglish} and not ${hasOwn}`;
  const languages = isEnglish ? [lastLanguage] : [...wanted, lastLanguage];
  const result = await ctx.db.execute<{
    id: string;
    params: string[];
    reports: string;
    last: Date;
    versions: string[];
    total: string;
  }>(sql`
    with texts as materialized (
      -- Each file is opened once; a blank message counts as missing.
      select r.version, r.lang, e.key as id
      from resources r cross join lateral jsonb_each_text(r.messages) e
      where r.handler = ${handler} and r.lang in ${languages} and ${hasText(sql`e.value`)}
        and exists (select from reported_messages m where m.handler = r.handler and m.version = r.version and m.id = e.key)
    )
    select m.id, (array_agg(m.params order by m.last_seen_at desc))[1] as params, sum(m.reports) as reports,
      max(m.last_seen_at) as last, array_agg(m.version order by v.version_key desc) as versions,
      count(*) over () as total
    from reported_messages m
    join handler_versions v on v.handler = m.handler and v.version = m.version
    where m.handler = ${handler} and ${wanted.length === 0 ? sql`false` : lacks}
    group by m.id
    order by last desc, m.id
    limit ${listed}`);
  return {
    items: result.rows.map(({ id, params, reports, last, versions }) => ({
      id,
      params,
      reports: Number(reports),
      lastSeenAt: new Date(last),
      versions,
    })),
    total: Number(result.rows[0]?.total ?? 0),
  };
}
