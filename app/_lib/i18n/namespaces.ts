/** One file per language and namespace: `locales/<language>/<namespace>.json`, flat keys. `errors` belongs to the server. */
export const namespaces = [
  'common',
  'navigation',
  'auth',
  'editor',
  'settings',
  'vms',
  'timeline',
  'goal-states',
  'outputs',
  'packages',
  'localization',
  'reports',
  'enrollment',
  'overview',
  'activity',
  'account',
  'palette',
] as const;

export type WordNamespace = (typeof namespaces)[number];

/** Words that every page needs; the root layout sends them. A page adds its own with `<Words>`. */
export const sharedNamespaces = ['common', 'navigation'] as const satisfies readonly WordNamespace[];

/** The language that is always complete, and that others fall back to. */
export const baseLanguage = 'en';

/** Made from English on the fly: accents, brackets and 40 % more length, to find words that are not in `locales/`. */
export const pseudoLanguage = 'en-XA';

/** English too, each word running from right to left, to find layouts that know only one direction. */
export const mirroredLanguage = 'ar-XB';

export type Bundle = Readonly<Record<string, string>>;
export type Bundles = Partial<Record<WordNamespace, Bundle>>;
