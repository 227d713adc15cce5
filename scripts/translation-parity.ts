/** The texts of one language: file name → key → text, as in `locales/<lang>/`. */
export type Translation = Record<string, Record<string, unknown>>;

const plural = /_(zero|one|two|few|many|other)$/;

/** Returns the placeholders of an i18next text, without their formatting: `{{count, number}}` → `count`. */
function placeholders(text: string): string[] {
  const found = [...text.matchAll(/\{\{\s*([^},\s]+)[^}]*\}\}/g)].map((match) => match[1] ?? '');
  return [...new Set(found)].sort();
}

/** Returns the tags of a rich text: `<1>`, `<b>`. A tag that English lacks would be rendered as text. */
function tags(text: string): string[] {
  return [...new Set([...text.matchAll(/<\/?([a-z0-9]+)\s*\/?>/gi)].map((match) => match[1] ?? ''))].sort();
}

const stem = (key: string) => key.replace(plural, '');

/**
 * Returns the texts by key without its plural suffix, then by plural form. A key without plural forms has one form,
 * named ''.
 */
function formsByStem(texts: Record<string, unknown>): Map<string, Map<string, string>> {
  const pluralStems = new Set(
    Object.keys(texts)
      .filter((key) => key.endsWith('_other'))
      .map(stem),
  );
  const stems = new Map<string, Map<string, string>>();
  for (const [key, text] of Object.entries(texts)) {
    const suffix = pluralStems.has(stem(key)) ? (plural.exec(key)?.[1] ?? '') : '';
    const name = suffix === '' ? key : stem(key);
    const forms = stems.get(name) ?? new Map<string, string>();
    forms.set(suffix, typeof text === 'string' ? text : '');
    stems.set(name, forms);
  }
  return stems;
}

/**
 * Compares a language with English: files, keys, plural forms by the language's own rules, placeholders, tags and empty
 * texts. Returns one sentence per fault.
 */
export function parityFaults(language: string, english: Translation, other: Translation): string[] {
  const faults: string[] = [];
  for (const file of Object.keys(other)) {
    if (!(file in english)) faults.push(`${language}/${file}: English has no such file`);
  }
  for (const [file, englishTexts] of Object.entries(english)) {
    const texts = other[file];
    if (texts === undefined) faults.push(`${language}/${file}: missing`);
    else faults.push(...fileFaults(language, englishTexts, texts).map((fault) => `${language}/${file}: ${fault}`));
  }
  return faults;
}

function fileFaults(language: string, english: Record<string, unknown>, other: Record<string, unknown>): string[] {
  const faults: string[] = [];
  const englishForms = formsByStem(english);
  const otherForms = formsByStem(other);
  for (const key of otherForms.keys()) {
    if (!englishForms.has(key)) faults.push(`${key}: English has no such key`);
  }
  for (const [key, expected] of englishForms) {
    const found = otherForms.get(key);
    if (found === undefined) {
      faults.push(`${key}: missing`);
      continue;
    }
    faults.push(...pluralFaults(language, key, expected, found));
    faults.push(...textFaults(key, expected, found));
  }
  return faults;
}

function pluralFaults(language: string, key: string, expected: Map<string, string>, found: Map<string, string>) {
  const ownForm = (suffix: string) => (suffix === '' ? key : `${key}_${suffix}`);
  if (expected.has('') !== found.has('')) return [`${key}: a plural in one language only`];
  if (expected.has('')) return [];
  // `zero` is specific to i18next and allowed in every language.
  const needed = new Intl.PluralRules(language).resolvedOptions().pluralCategories as string[];
  return [
    ...needed.filter((suffix) => !found.has(suffix)).map((suffix) => `${ownForm(suffix)}: missing plural form`),
    ...[...found.keys()]
      .filter((suffix) => suffix !== 'zero' && !needed.includes(suffix))
      .map((suffix) => `${ownForm(suffix)}: no plural form of this language`),
  ];
}

function textFaults(key: string, expected: Map<string, string>, found: Map<string, string>): string[] {
  const wanted = expected.get('') ?? expected.get('other') ?? '';
  const faults: string[] = [];
  for (const [suffix, text] of found) {
    const name = suffix === '' ? key : `${key}_${suffix}`;
    if (text.trim() === '') faults.push(`${name}: not a text, or empty`);
    // Only `other` and texts without plural forms must contain all placeholders: `one` may omit the number ("One
    // machine").
    const required = suffix === '' || suffix === 'other' ? placeholders(wanted) : [];
    const missing = required.filter((name_) => !placeholders(text).includes(name_));
    const unknown = placeholders(text).filter((name_) => !placeholders(wanted).includes(name_));
    if (missing.length > 0) faults.push(`${name}: lacks {{${missing.join('}}, {{')}}}`);
    if (unknown.length > 0) faults.push(`${name}: {{${unknown.join('}}, {{')}}} is not in English`);
    if (tags(text).join() !== tags(wanted).join()) faults.push(`${name}: other tags than in English`);
  }
  return faults;
}
