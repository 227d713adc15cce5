import type { Bundle } from './namespaces.ts';

const accents: Readonly<Record<string, string>> = {
  a: 'á',
  b: 'ƀ',
  c: 'ç',
  d: 'ð',
  e: 'é',
  f: 'ƒ',
  g: 'ğ',
  h: 'ĥ',
  i: 'í',
  j: 'ĵ',
  k: 'ķ',
  l: 'ļ',
  m: 'ɱ',
  n: 'ñ',
  o: 'ó',
  p: 'þ',
  q: 'ɋ',
  r: 'ŕ',
  s: 'š',
  t: 'ţ',
  u: 'ú',
  v: 'ṽ',
  w: 'ŵ',
  x: 'ẋ',
  y: 'ý',
  z: 'ž',
};

/** Placeholders, nested texts (`$t(…)`) and tags, which stay unchanged. */
const kept = /(\{\{[^}]*\}\}|\$t\([^)]*\)|<\/?[^>]*>)/;

/** Returns dots in groups the size of a long word, because no language has words as long as a paragraph. */
const padding = (length: number): string => '·'.repeat(length).replace(/·{20}(?=·)/g, `${'·'.repeat(19)} `);

/** Converts `Delete {{count}} VMs` to `[Ðéļéţé {{count}} ṼⱮš·····]`, 40% longer, like a verbose language. */
export function pseudo(sentence: string): string {
  let letters = 0;
  const accented = sentence
    .split(kept)
    .map((part, index) => {
      if (index % 2 === 1) return part;
      letters += part.length;
      return [...part].map(accent).join('');
    })
    .join('');
  return `[${accented}${padding(Math.ceil(letters * 0.4))}]`;
}

/** Converts a whole namespace, keeping its keys. */
export function pseudoBundle(bundle: Bundle): Bundle {
  return Object.fromEntries(Object.entries(bundle).map(([key, sentence]) => [key, pseudo(sentence)]));
}

/** Reverses every word with Unicode marks, as in a right-to-left script. Placeholders and tags stay unchanged. */
export function mirrored(sentence: string): string {
  return sentence
    .split(kept)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/\S+/g, '\u202e$&\u202c')))
    .join('');
}

/** Converts a whole namespace, with the plural forms of Arabic. */
export function mirroredBundle(bundle: Bundle): Bundle {
  const forms = Object.entries(bundle).flatMap(([key, sentence]) =>
    key.endsWith('_other')
      ? ['zero', 'two', 'few', 'many', 'other'].map(
          (form) => [key.replace(/other$/, form), mirrored(sentence)] as const,
        )
      : [[key, mirrored(sentence)] as const],
  );
  // A plural form that exists in English takes precedence over a form that is generated from `other`.
  const own = Object.keys(bundle).map((key) => [key, mirrored(bundle[key] ?? '')] as const);
  return Object.fromEntries([...forms, ...own]);
}

function accent(letter: string): string {
  const lower = letter.toLowerCase();
  const found = accents[lower];
  if (found === undefined) return letter;
  return letter === lower ? found : found.toUpperCase();
}
