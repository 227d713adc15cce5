import { parseHandlerId } from '#protocol/names.ts';

export interface Suggestion {
  handler: string;
  version: string;
}

const named = /^(.+?)[-_ .]v?(\d+(?:\.\d+){0,3})\.zip$/i;

/** `Acme.Lab.Probe-1.2.0.zip` says both; `probe-1.2.0.zip` means a handler of that type, where one is known. */
export function suggest(fileName: string, known: readonly string[], namespaces: readonly string[]): Suggestion {
  const [, stem = '', version = ''] = named.exec(fileName) ?? [];
  if (parseHandlerId(stem) !== null) return { handler: stem, version };
  const type = stem.toLowerCase();
  const match = known.find((handler) => handler.toLowerCase().endsWith(`.${type}`));
  if (match !== undefined) return { handler: match, version };
  const [only] = namespaces;
  return { handler: namespaces.length === 1 && stem !== '' ? `${only}.${stem}` : '', version };
}
