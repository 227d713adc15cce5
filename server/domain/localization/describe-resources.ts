import type { z } from 'zod';
import { canonicalLanguage, lastLanguage } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import { leftOut } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { readCursor, writeCursor } from '#server/domain/cursor.ts';
import { DomainError } from '#server/domain/error.ts';
import { fitList, fitWarnings, leftOutOf, warningBytes } from '#server/domain/list-bytes.ts';
import { parse } from '#server/domain/parse.ts';
import { getResources, type LanguageResources, languageResources } from './get-resources.ts';
import { type GetResourcesInput, type ListLanguagesInput, listLanguagesInput } from './input.ts';

/** A language whose lists are limited in size; `leftOut` counts the ids that `missing` does not list. */
export const describedLanguage = languageResources.extend({ leftOut: leftOut('missing') });
export type DescribedLanguage = z.infer<typeof describedLanguage>;

/** Maximum bytes of missing ids per language in a response. */
const maxMissingBytes = 1024 * 1024;
/** Maximum bytes of all messages on the page that edits them. */
const maxEditedBytes = 16 * 1024 * 1024;

function describe({ missing, warnings, ...language }: LanguageResources): DescribedLanguage {
  const { kept, leftOut: omitted } = fitList(missing, { bytes: maxMissingBytes });
  return { ...language, missing: kept, warnings: fitWarnings(warnings), ...leftOutOf({ missing: omitted }) };
}

/**
 * Returns the languages of a version with their messages, English first, as many as fit into one response. Throws 404
 * `version_unknown`.
 */
export async function describeResources(ctx: Context, input: GetResourcesInput) {
  const { languages, ...version } = await getResources(ctx, input);
  const { kept, leftOut: omitted } = fitList(languages.map(describe), { bytes: maxEditedBytes });
  return { ...version, languages: kept, ...leftOutOf({ languages: omitted }) };
}

/**
 * Lists one page of a version's languages without their messages, English first, then by tag. Throws 404
 * `version_unknown`, 400 `cursor_invalid`.
 */
export async function listLanguages(
  ctx: Context,
  input: ListLanguagesInput,
): Promise<{ items: Omit<DescribedLanguage, 'messages'>[]; nextCursor: string | null }> {
  allow(ctx.actor, 'viewer');
  const { limit, cursor, ...version } = parse(listLanguagesInput, input);
  const [after] = cursor === undefined ? [] : readCursor(cursor, 1);
  const { languages } = await getResources(ctx, version);
  const sorted = languages.toSorted((a, b) => order(a.lang, b.lang));
  const rest = after === undefined ? sorted : sorted.filter(({ lang }) => order(lang, after) > 0);
  const described = rest
    .slice(0, limit)
    .map(describe)
    .map(({ messages: _, ...language }) => language);
  const { kept: items } = fitList(described, { bytesOf: languageBytes });
  const last = items.at(-1);
  return { items, nextCursor: last && items.length < rest.length ? writeCursor([last.lang]) : null };
}

/** Returns one language of a version. Throws 404 if the version or the language is unknown. */
export async function getLanguage(
  ctx: Context,
  { lang, ...version }: GetResourcesInput & { lang: string },
): Promise<DescribedLanguage> {
  const { languages } = await getResources(ctx, version);
  const found = languages.find((language) => language.lang === canonicalLanguage(lang));
  if (!found) throw new DomainError('not_found', 'not_found');
  return describe(found);
}

/** Compares two tags: English first, then by bytes, so that the order does not depend on the database's collation. */
const order = (a: string, b: string): number =>
  Number(b === lastLanguage) - Number(a === lastLanguage) || Buffer.compare(Buffer.from(a), Buffer.from(b));

const languageBytes = ({ warnings, ...rest }: Omit<DescribedLanguage, 'messages'>): number =>
  Buffer.byteLength(JSON.stringify(rest)) + warnings.reduce((bytes, warning) => bytes + warningBytes(warning), 0);
