import { type Language, parseLanguage } from './language.ts';

/** Where every look-up ends (AZ-L3). */
export const lastLanguage = 'en';

/** A language that a reader wants, with the languages that stand in for it. */
export interface WantedLanguage {
  tag: string;
  /** Best first, without what the reader refused. */
  fallbacks: readonly string[];
  /** Whether a text in this language serves a reader who wants it: `de-DE` serves `de-AT`, `zh-CN` does not serve `zh-TW`. */
  serves(language: string): boolean;
}

/** What a reader asks for: a language chosen in the pages, and the header `Accept-Language` as it came. */
export interface ReaderWishes {
  acceptLanguage?: string | null | undefined;
  chosenLanguage?: string | null | undefined;
}

/** The cookie in which the pages keep the chosen language. */
export const languageCookie = 'annex-language';

const maxHeaderLength = 4_000;
const maxRanges = 50;

/**
 * The languages that a reader wants, best first: the chosen one, then those of `Accept-Language` by their weights
 * (RFC 9110, 12.5.4), each with its fallbacks. `*` asks for nothing in particular, weight 0 refuses a language, and
 * malformed parts are ignored. The list may be empty: `en` at the very end is the look-up's own.
 */
export function negotiate({ acceptLanguage, chosenLanguage }: ReaderWishes): WantedLanguage[] {
  const ranges = readRanges(acceptLanguage ?? '');
  const weights = new Map<string, number>();
  for (const { language, weight } of ranges) {
    weights.set(language.tag, Math.max(weight, weights.get(language.tag) ?? 0));
  }
  const chosen = chosenLanguage ? parseLanguage(chosenLanguage) : null;
  const asked = ranges.filter(({ weight }) => weight > 0).toSorted((a, b) => b.weight - a.weight);
  const wanted = new Map<string, WantedLanguage>();
  if (chosen !== null) wanted.set(chosen.tag, want(chosen, new Map()));
  for (const { language } of asked) {
    if (!wanted.has(language.tag)) wanted.set(language.tag, want(language, weights));
  }
  return [...wanted.values()];
}

/** The best of the languages that there are words for; `en` where none of them is wanted. */
export function pickLanguage(wanted: readonly WantedLanguage[], available: readonly string[]): string {
  for (const tag of wanted.flatMap((language) => language.fallbacks)) if (available.includes(tag)) return tag;
  return lastLanguage;
}

function want(language: Language, weights: ReadonlyMap<string, number>): WantedLanguage {
  const fallbacks = language.fallbacks.filter((tag) => !isRefused(parseLanguage(tag), weights));
  return {
    tag: language.tag,
    fallbacks,
    serves(text) {
      const found = parseLanguage(text);
      if (found === null) return false;
      if (fallbacks.includes(found.tag)) return true;
      return found.base === language.base && found.script === language.script && !isRefused(found, weights);
    },
  };
}

/** Whether the closest range that the header has for a language is one of weight 0. */
function isRefused(language: Language | null, weights: ReadonlyMap<string, number>): boolean {
  const closest = language?.fallbacks.find((tag) => weights.has(tag));
  return closest !== undefined && weights.get(closest) === 0;
}

function readRanges(header: string): { language: Language; weight: number }[] {
  return header
    .slice(0, maxHeaderLength)
    .split(',', maxRanges)
    .flatMap((part) => {
      const [range = '', ...params] = part.split(';');
      // `de-*-DE` is `de-DE`, and `*-CH` asks for as little as `*` (RFC 4647, 3.2).
      const language = parseLanguage(range.replaceAll('-*', ''));
      const weight = weightOf(params);
      return language === null || weight === null ? [] : [{ language, weight }];
    });
}

/** 1 without a weight, and for one above 1; null where it is no number. */
function weightOf(params: readonly string[]): number | null {
  for (const param of params) {
    const value = /^\s*q\s*=(.*)$/is.exec(param)?.[1]?.trim();
    if (value === undefined) continue;
    return /^(?:\d+\.?\d*|\.\d+)$/.test(value) ? Math.min(Number(value), 1) : null;
  }
  return 1;
}
