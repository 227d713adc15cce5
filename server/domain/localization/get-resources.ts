import { z } from 'zod';
import type { StoredWarning } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count, time } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type Coverage, coverage, coverageOf } from './coverage.ts';
import { type GetResourcesInput, getResourcesInput } from './input.ts';
import { loadResources, loadVersion, resourcesOf } from './load-version.ts';

export const languageResources = coverage.extend({
  /** Sorted by id; numbers in ids are compared by value, so `disk2` precedes `disk10`. */
  messages: z.array(z.object({ id: z.string(), text: z.string() })),
  warnings: z.array(z.custom<StoredWarning>()),
  /** Increases with every change. */
  revision: count,
  updatedAt: time,
  updatedBy: z.string(),
  /** The version from which the messages were carried over; null once someone edits them. */
  carriedFrom: z.string().nullable(),
});
export type LanguageResources = z.infer<typeof languageResources>;

/** Returns a version's messages in all languages, English first, with their coverage. Throws 404 `version_unknown`. */
export async function getResources(
  ctx: Context,
  input: GetResourcesInput,
): Promise<{ handler: string; version: string; languages: LanguageResources[] }> {
  allow(ctx.actor, 'viewer');
  const { handler, version } = await loadVersion(ctx.db, parse(getResourcesInput, input));
  const rows = await loadResources(ctx.db, { handler, version });
  const covered = coverageOf(resourcesOf(rows));
  const order = new Intl.Collator('en', { numeric: true });
  const languages = rows.map((row, index): LanguageResources => {
    const { lang, translated, total, missing } = covered[index] as Coverage;
    const messages = Object.entries(row.messages)
      .map(([id, text]) => ({ id, text }))
      .toSorted((a, b) => order.compare(a.id, b.id));
    const { warnings, revision, updatedAt, updatedBy, carriedFrom } = row;
    const revisionFields = { warnings, revision, updatedAt: updatedAt.toISOString(), updatedBy, carriedFrom };
    return { lang, translated, total, missing, messages, ...revisionFields };
  });
  return {
    handler,
    version,
    languages: languages.toSorted((a, b) => Number(b.lang === 'en') - Number(a.lang === 'en')),
  };
}
