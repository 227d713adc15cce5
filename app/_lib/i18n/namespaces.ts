/**
 * In each language, a namespace is one file with flat keys: `locales/<language>/<namespace>.json`. The list does not
 * include `errors`, which only the server uses.
 */
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
  'executions',
  'runbooks',
  'rollouts',
  'memberships',
  'models',
  'services',
  'overview',
  'attention',
  'activity',
  'account',
  'palette',
] as const;

export type WordNamespace = (typeof namespaces)[number];

/** Texts that every page needs, sent by the root layout. Pages add further texts with `<Words>`. */
export const sharedNamespaces = ['common', 'navigation'] as const satisfies readonly WordNamespace[];

/** The language that is always complete, and the fallback for all other languages. */
export const baseLanguage = 'en';

/** Generated from English, with accents, brackets and 40% more length, to find texts that are not in `locales/`. */
export const pseudoLanguage = 'en-XA';

/** English with each word reversed, to find layouts that work in one direction only. */
export const mirroredLanguage = 'ar-XB';

export type Bundle = Readonly<Record<string, string>>;
export type Bundles = Partial<Record<WordNamespace, Bundle>>;
