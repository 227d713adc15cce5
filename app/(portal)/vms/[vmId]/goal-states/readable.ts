import type { PastExtension } from '../vm-data.ts';

/** How secrets are told in the text of a comparison. */
export interface SealedWords {
  sealed: string;
  changed: string;
}

/** A goal state as text to read: extensions by name, in their order. */
export function readable(extensions: readonly PastExtension[]): string {
  const byName = Object.fromEntries(extensions.map(({ name, ...extension }) => [name, extension]));
  return JSON.stringify(byName, null, 2);
}

/**
 * The same, to be compared: secrets are there or not, and those of `changed` differ; a sequence number follows from
 * the rest.
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
