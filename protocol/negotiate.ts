import { type LanguageTag, parseLanguage } from './language.ts';

/** The last fallback (AZ-L3). */
export const lastLanguage = 'en';

/** A language that a reader wants, with its fallbacks. */
export interface WantedLanguage {
  tag: string;
  /** The language and its fallbacks, best first, without languages that the reader rejected. */
  fallbacks: readonly string[];
  /** Whether a text in this language suits the reader: `de-DE` suits `de-AT`, but `zh-CN` does not suit `zh-TW`. */
  serves(language: string): boolean;
}

/** What a reader requested: the language chosen in the pages, and the `Accept-Language` header as received. */
export interface ReaderWishes {
  acceptLanguage?: string | null | undefined;
  chosenLanguage?: string | null | undefined;
}

const maxHeaderLength = 4_000;
const maxRanges = 50;

/**
 * Returns the languages that a reader wants, best first: the chosen language, then the languages in `Accept-Language`
 * by quality (RFC 9110, section 12.5.4), each with its fallbacks. A quality of 0 rejects a language; `*` and malformed
 * parts are ignored. The list may be empty: `pickLanguage` adds the final fallback `en`.
 */
export function negotiate({ acceptLanguage, chosenLanguage }: ReaderWishes): WantedLanguage[] {
  const ranges = readRanges(acceptLanguage ?? '');
  const qualities = new Map<string, number>();
  for (const { language, quality } of ranges) {
    qualities.set(language.tag, Math.max(quality, qualities.get(language.tag) ?? 0));
  }
  const chosen = chosenLanguage ? parseLanguage(chosenLanguage) : null;
  const asked = ranges.filter(({ quality }) => quality > 0).toSorted((a, b) => b.quality - a.quality);
  const wanted = new Map<string, WantedLanguage>();
  if (chosen !== null) wanted.set(chosen.tag, want(chosen, new Map()));
  for (const { language } of asked) {
    if (!wanted.has(language.tag)) wanted.set(language.tag, want(language, qualities));
  }
  return [...wanted.values()];
}

/** Returns the available language that the reader prefers, or `en` if the reader wants none of them. */
export function pickLanguage(wanted: readonly WantedLanguage[], available: readonly string[]): string {
  for (const tag of wanted.flatMap((language) => language.fallbacks)) if (available.includes(tag)) return tag;
  return lastLanguage;
}

function want(language: LanguageTag, qualities: ReadonlyMap<string, number>): WantedLanguage {
  const fallbacks = language.fallbacks.filter((tag) => !isRefused(parseLanguage(tag), qualities));
  return {
    tag: language.tag,
    fallbacks,
    serves(text) {
      const found = parseLanguage(text);
      if (found === null) return false;
      if (fallbacks.includes(found.tag)) return true;
      return found.base === language.base && found.script === language.script && !isRefused(found, qualities);
    },
  };
}

/** Whether `Accept-Language` rejects a language: its closest match in the header has a quality of 0. */
function isRefused(language: LanguageTag | null, qualities: ReadonlyMap<string, number>): boolean {
  const closest = language?.fallbacks.find((tag) => qualities.has(tag));
  return closest !== undefined && qualities.get(closest) === 0;
}

function readRanges(header: string): { language: LanguageTag; quality: number }[] {
  return header
    .slice(0, maxHeaderLength)
    .split(',', maxRanges)
    .flatMap((part) => {
      const [range = '', ...params] = part.split(';');
      // `de-*-DE` means `de-DE`, and `*-CH` is ignored like `*` (RFC 4647, section 3.2).
      const language = parseLanguage(range.replaceAll('-*', ''));
      const quality = qualityOf(params);
      return language === null || quality === null ? [] : [{ language, quality }];
    });
}

/**
 * Returns the quality of a language: 1 if no quality is given or if it is greater than 1, null if it is not a number.
 */
function qualityOf(params: readonly string[]): number | null {
  for (const param of params) {
    const value = /^\s*q\s*=(.*)$/is.exec(param)?.[1]?.trim();
    if (value === undefined) continue;
    return /^(?:\d+\.?\d*|\.\d+)$/.test(value) ? Math.min(Number(value), 1) : null;
  }
  return 1;
}
