import type { PastExtension } from '../vm-data.ts';

/** The texts that replace secrets in a comparison. */
export interface SealedWords {
  sealed: string;
  changed: string;
}

/** Returns a goal state as indented JSON, with one property per extension. */
export function readableGoalState(extensions: readonly PastExtension[]): string {
  const byName = Object.fromEntries(extensions.map(({ name, ...extension }) => [name, extension]));
  return JSON.stringify(byName, null, 2);
}

/**
 * Like `readableGoalState`, but shows a text from `words` as the protected settings of each extension that has any. For
 * the extensions in `changed`, the text says that the settings differ.
 */
export function comparable(
  extensions: readonly PastExtension[],
  words: SealedWords,
  changed: readonly string[] = [],
): string {
  const byName = Object.fromEntries(
    extensions.map(({ name, hasProtectedSettings, ...extension }) => {
      const sealed = changed.includes(name) ? words.changed : words.sealed;
      return [name, { ...extension, ...(hasProtectedSettings && { protectedSettings: sealed }) }];
    }),
  );
  return JSON.stringify(byName, null, 2);
}
