import { canonicalLanguage, lastLanguage, placeholdersOf } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type ExportXliffInput, exportXliffInput } from './input.ts';
import { loadResources, loadVersion } from './load-version.ts';
import { templateOf } from './message.ts';
import { writeXliff } from './xliff/write-xliff.ts';

export interface XliffExport {
  fileName: string;
  text: string;
}

/**
 * Exports the English messages of a version for translators, with existing translations into the target language.
 * Throws 404 `version_unknown`, and 422 if the language is invalid or English, or if there are no English messages.
 */
export async function exportXliff(ctx: Context, input: ExportXliffInput): Promise<XliffExport> {
  allow(ctx.actor, 'viewer');
  const { lang: named, xliff, ...reference } = parse(exportXliffInput, input);
  const row = await loadVersion(ctx.db, reference);
  const lang = targetLanguage(named);
  const files = await loadResources(ctx.db, row);
  const english = files.find((file) => file.lang === lastLanguage)?.messages;
  if (english === undefined) throw new DomainError('unprocessable', 'xliff_without_english');
  const translated = files.find((file) => file.lang === lang)?.messages;
  const order = new Intl.Collator('en', { numeric: true });
  const units = Object.keys(english)
    .toSorted(order.compare)
    .flatMap((id) => {
      const source = templateOf(english, id);
      if (source === undefined) return [];
      const target = templateOf(translated, id) ?? null;
      const needsReview = target !== null && placeholdersOf(source).join() !== placeholdersOf(target).join();
      return [{ id, source, target, needsReview }];
    });
  const original = `${row.handler}-${row.version}`;
  return {
    fileName: `${original}.${lang}.xlf`,
    text: writeXliff({ original, source: lastLanguage, target: lang, units }, xliff),
  };
}

/** Returns the target language in canonical form. Throws 422 if it is invalid or English. */
export function targetLanguage(named: string): string {
  const lang = canonicalLanguage(named);
  if (lang === null) {
    throw new DomainError('unprocessable', 'invalid', { faults: [{ path: '/lang', code: 'language_tag' }] });
  }
  if (lang === lastLanguage) throw new DomainError('unprocessable', 'xliff_into_english');
  return lang;
}
