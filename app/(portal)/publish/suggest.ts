import { parseHandlerId } from '#protocol/names.ts';

export interface Suggestion {
  handler: string;
  version: string;
}

const form = /^(.+?)[-_ .]v?(\d+(?:\.\d+){0,3})\.zip$/i;

/**
 * Suggests the handler and version of a package, from its `manifest.xml` or else its file name.
 * `Acme.Lab.Probe-1.2.0.zip` names both; `probe-1.2.0.zip` means the known handler of that type, or a new handler of
 * that type in the reader's only namespace.
 */
export function suggest(
  fileName: string,
  known: readonly string[],
  namespaces: readonly string[],
  stated: Suggestion | null,
  /** The name of a formula; null for a handler. */
  formula: string | null = null,
): Suggestion {
  const [, stem = '', named = ''] = form.exec(fileName) ?? [];
  const version = stated?.version || named;
  if (stated !== null && parseHandlerId(stated.handler) !== null) return { handler: stated.handler, version };
  if (parseHandlerId(stem) !== null) return { handler: stem, version };
  const type = formula ?? stem;
  const match = known.find((handler) => handler.toLowerCase().endsWith(`.${type.toLowerCase()}`));
  if (match !== undefined) return { handler: match, version };
  const [only] = namespaces;
  return { handler: namespaces.length === 1 && type !== '' ? `${only}.${type}` : '', version };
}
