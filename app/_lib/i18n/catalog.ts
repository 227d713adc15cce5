import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Bundle,
  type Bundles,
  baseLanguage,
  mirroredLanguage,
  pseudoLanguage,
  type WordNamespace,
} from './namespaces.ts';
import { mirroredBundle, pseudoBundle } from './pseudo.ts';

/** Texts are read at run time, so that a new language needs only its files. The portal runs in the project's folder. */
const folder = join(/* turbopackIgnore: true */ process.cwd(), 'locales');
const read = new Map<string, Bundle>();
let languages: readonly string[] | undefined;

/** Returns the languages that have translations, sorted by tag. */
export function availableLanguages(): readonly string[] {
  languages ??= readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
  return languages;
}

/** Returns the texts of these namespaces, in English where the language lacks them. */
export function bundlesOf(language: string, wanted: readonly WordNamespace[]): Bundles {
  return Object.fromEntries(wanted.map((namespace) => [namespace, bundleOf(language, namespace)]));
}

function bundleOf(language: string, namespace: WordNamespace): Bundle {
  const key = `${language}/${namespace}`;
  let bundle = read.get(key);
  if (bundle === undefined) {
    bundle = load(language, namespace);
    read.set(key, bundle);
  }
  return bundle;
}

function load(language: string, namespace: WordNamespace): Bundle {
  const base = parse(baseLanguage, namespace);
  if (language === baseLanguage) return base;
  if (language === pseudoLanguage) return pseudoBundle(base);
  if (language === mirroredLanguage) return mirroredBundle(base);
  return { ...base, ...parse(language, namespace) };
}

function parse(language: string, namespace: WordNamespace): Bundle {
  try {
    return JSON.parse(readFileSync(join(folder, language, `${namespace}.json`), 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  }
}
