import type { PastExtension } from '../vm-data.ts';

/** How the text of a comparison shows secrets. */
export interface SealedWords {
  sealed: string;
  changed: string;
}

/** A goal state as readable text: extensions by name, in order. */
export function readableGoalState(extensions: readonly PastExtension[]): string {
  const byName = Object.fromEntries(extensions.map(({ name, ...extension }) => [name, extension]));
  return JSON.stringify(byName, null, 2);
}

/**
 * The same for a comparison: secrets are present or absent, those of `changed` differ, and sequence numbers are left
 * out because they follow from the rest.
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
