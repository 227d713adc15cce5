import { z } from 'zod';
import type { StoredWarning } from '#db/schema/index.ts';
import { lastLanguage, placeholdersOf, rawPlaceholdersOf } from '#protocol/index.ts';
import { count } from '#server/domain/answers.ts';
import { type Messages, type Resources, templateOf } from './message.ts';

/** How many of the English messages a language translates. */
export const coverage = z.object({
  lang: z.string(),
  translated: count,
  /** Number of English messages, or of the language's own messages if there are no English messages. */
  total: count,
  /** Ids that have a message in English but not in this language. */
  missing: z.array(z.string()),
});
export type Coverage = z.infer<typeof coverage>;

/** Returns the coverage of each language, in the order of the map. */
export function coverageOf(resources: Resources): Coverage[] {
  return [...resources].map(([lang, messages]) => {
    const ids = filledIds(resources.get(lastLanguage) ?? messages);
    const missing = ids.filter((id) => templateOf(messages, id) === undefined);
    return { lang, translated: ids.length - missing.length, total: ids.length, missing };
  });
}

const filledIds = (messages: Messages): string[] =>
  Object.keys(messages).filter((id) => templateOf(messages, id) !== undefined);

/**
 * Returns warnings about one language for its publisher: placeholders that differ from the English placeholders (AZ-L6)
 * or are never filled in, ids that English does not have, and blank messages. `pathOf` returns the location of an id.
 */
export function translationWarnings(
  lang: string,
  messages: Messages,
  english: Messages | undefined,
  pathOf: (id: string) => string,
): StoredWarning[] {
  return Object.keys(messages).flatMap((id): StoredWarning[] => {
    const path = pathOf(id);
    const template = templateOf(messages, id);
    if (template === undefined) return [{ code: 'message_blank', path, params: { id, lang } }];
    const [raw] = rawPlaceholdersOf(template);
    const warnings: StoredWarning[] =
      raw === undefined ? [] : [{ code: 'placeholder_raw', path, params: { id, lang, placeholder: raw } }];
    if (lang === lastLanguage || english === undefined) return warnings;
    const original = templateOf(english, id);
    if (original === undefined) return [...warnings, { code: 'message_not_in_english', path, params: { id, lang } }];
    const expected = placeholdersOf(original);
    const found = placeholdersOf(template);
    if (expected.join() === found.join()) return warnings;
    const params = { id, lang, expected: listed(expected), found: listed(found) };
    return [...warnings, { code: 'placeholders_differ', path, params }];
  });
}

const listed = (indexes: number[]): string => indexes.map((index) => `{${index}}`).join(' ') || '–';
