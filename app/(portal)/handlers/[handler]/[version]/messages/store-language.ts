import { problemOfResponse } from '#app/_lib/problem.ts';
import { DoorError } from '#app/_lib/session.ts';

export interface LanguageToStore {
  handler: string;
  version: string;
  lang: string;
  /** A resource file: an array of one. */
  file: unknown;
  /** The revision that was seen, 0 for none; undefined replaces whatever is there. */
  revision?: number;
}

export interface StoredLanguage {
  /** Canonical. */
  lang: string;
  /** How many it has now. */
  messages: number;
}

/** Where a language of a version stands at the pages' own door; with `ending`, as a file of another kind. */
export function languageAddress(
  { handler, version, lang }: Pick<LanguageToStore, 'handler' | 'version' | 'lang'>,
  ending = '',
): string {
  const parts = ['handlers', handler, 'versions', version, 'resources', lang].map(encodeURIComponent);
  return `/upload/${parts.join('/')}${ending}`;
}

/** Puts a language in its place by the pages' own door: 20,000 messages are too large for tRPC. Throws `DoorError`. */
export async function storeLanguage({ file, revision, ...place }: LanguageToStore): Promise<StoredLanguage> {
  const response = await fetch(languageAddress(place), {
    method: 'PUT',
    headers: {
      'content-type': 'application/json',
      ...(revision !== undefined && { 'if-match': `"${revision}"` }),
    },
    body: JSON.stringify(file),
  });
  if (!response.ok) throw new DoorError(await problemOfResponse(response));
  return response.json();
}
