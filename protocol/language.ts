/** The parts of a language tag. */
export interface LanguageTag {
  /** The canonical tag, without extensions: `de-AT`. */
  tag: string;
  /** The language without script and region: `de`. */
  base: string;
  /** The script of the language: the one in the tag, otherwise the usual script for the language and region. */
  script: string | undefined;
  /** The tag and its fallbacks, best first: `zh-TW` → `zh-TW`, `zh-Hant-TW`, `zh-Hant`, `zh` (AZ-L3). */
  fallbacks: readonly string[];
}

/** Maximum length of a tag. Longer tags are rejected. BCP 47 recommends support for at least 35 characters. */
const maxTagLength = 100;
/** Former .NET names of the two Chinese scripts. */
const legacyTags: Readonly<Record<string, string>> = { 'zh-chs': 'zh-Hans', 'zh-cht': 'zh-Hant' };
/** `zh-yue-HK` is an older spelling of `yue-HK` (RFC 5646, section 4.5). */
const extendedLanguage = /^[a-z]{2,3}-(?=[a-z]{3}(?:-|$))/i;

const maxRemembered = 2_000;
const remembered = new Map<string, LanguageTag | null>();

/**
 * Parses a language tag. Returns null if it names no language (`und`, `*`) or is malformed. Every tag from a reader, an
 * agent or a resource file must pass through here, so that no tag reaches `Intl` unchecked.
 */
export function parseLanguage(text: string): LanguageTag | null {
  if (text.length > maxTagLength) return null;
  const known = remembered.get(text);
  if (known !== undefined) return known;
  const language = read(text.trim().replaceAll('_', '-'));
  if (remembered.size >= maxRemembered) remembered.clear();
  remembered.set(text, language);
  return language;
}

/** Returns the canonical form of a language tag (`de_at` → `de-AT`), or null if it names no language. */
export function canonicalLanguage(text: string): string | null {
  return parseLanguage(text)?.tag ?? null;
}

/** Returns a language and its fallbacks, best first; empty if the tag names no language. */
export function fallbacks(tag: string): readonly string[] {
  return parseLanguage(tag)?.fallbacks ?? [];
}

function read(text: string): LanguageTag | null {
  try {
    const tag = new Intl.Locale(legacyTags[text.toLowerCase()] ?? text.replace(extendedLanguage, '')).baseName;
    const { language: base, script, region } = new Intl.Locale(tag);
    // `und-DE` has no language, so no fallbacks can be built from it.
    if (!base || base === 'und') return null;
    const usual = script ?? scriptOf(tag);
    const chain = [tag];
    if (region !== undefined) {
      if (usual === undefined || scriptOf(`${base}-${region}`) === usual) chain.push(`${base}-${region}`);
      if (usual !== undefined) chain.push(`${base}-${usual}-${region}`);
    }
    const broader = [...(usual === undefined ? [] : [`${base}-${usual}`]), base];
    // `zh` alone comes before `zh-Hans`, because `zh` implies this script.
    chain.push(...(script === undefined && region === undefined ? broader.toReversed() : broader));
    return { tag, base, script: usual, fallbacks: [...new Set(chain)] };
  } catch {
    return null;
  }
}

const scriptOf = (tag: string): string | undefined => new Intl.Locale(tag).maximize().script;
