import { canonicalLanguage } from '#protocol/index.ts';

/** Where every look-up ends (AZ-L3). */
export const lastLanguage = 'en';

/** What a text's language is called where its writer named none. */
export const unknownLanguage = 'und';

const maxHeaderLength = 4_000;
const maxLanguages = 50;
const part = /^\s*(\*|[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)\s*(?:;\s*q\s*=\s*(0(?:\.\d*)?|1(?:\.0*)?)\s*)?$/;

/**
 * The languages that a reader wants, each with what .NET resources fall back to, best first and each once (AZ-L3).
 * A chosen language goes before the header's. `*` asks for nothing in particular and malformed parts are ignored,
 * so that the list may be empty; `en` at the very end is the look-up's own.
 */
export function negotiate(acceptLanguage: string | null | undefined, chosen?: string | null): string[] {
  const asked = headerLanguages(acceptLanguage ?? '');
  const first = chosen ? canonicalLanguage(chosen) : null;
  return [...new Set([...(first === null ? [] : [first]), ...asked].flatMap(fallbacks))];
}

function headerLanguages(header: string): string[] {
  const parts: { tag: string; quality: number }[] = [];
  for (const text of header.slice(0, maxHeaderLength).split(',').slice(0, maxLanguages)) {
    const match = part.exec(text);
    const tag = match?.[1] === undefined || match[1] === '*' ? null : canonicalLanguage(match[1]);
    const quality = Number(match?.[2] ?? 1);
    if (tag !== null && quality > 0) parts.push({ tag, quality });
  }
  return parts.toSorted((a, b) => b.quality - a.quality).map(({ tag }) => tag);
}

/** A language and its parents: `zh-TW` → `zh-TW`, `zh-Hant-TW`, `zh-Hant`, `zh`; `de-AT` → `de-AT`, …, `de`. */
export function fallbacks(tag: string): string[] {
  const canonical = canonicalLanguage(tag);
  if (canonical === null) return [];
  const { language, region, script } = new Intl.Locale(canonical);
  const likely = script ?? (region === undefined ? undefined : new Intl.Locale(canonical).maximize().script);
  const chain = [canonical];
  if (region !== undefined) {
    if (isLikelyScript(language, region, likely)) chain.push(`${language}-${region}`);
    if (likely !== undefined) chain.push(`${language}-${likely}-${region}`);
  }
  if (likely !== undefined) chain.push(`${language}-${likely}`);
  return [...new Set([...chain, language])];
}

/** Whether `zh-TW` says the same as `zh-Hant-TW`. */
function isLikelyScript(language: string, region: string, script: string | undefined): boolean {
  return script === undefined || new Intl.Locale(`${language}-${region}`).maximize().script === script;
}

/** Whether a reader of these languages (from `negotiate`) can read a text in that one: `de-DE` serves who asks for `de`. */
export function isWanted(lang: string, wanted: readonly string[]): boolean {
  return fallbacks(lang).some((tag) => wanted.includes(tag));
}
