import { DoorError } from '#app/_lib/post-json.ts';
import { problemOfResponse } from '#app/_lib/problem.ts';

export interface LanguageToStore {
  handler: string;
  version: string;
  lang: string;
  /** A resource file: an array of one object. */
  file: unknown;
  /** The revision that the edits are based on; 0 for a new language. If undefined, any revision is replaced. */
  revision?: number;
}

export interface StoreLanguageAnswer {
  /** Canonical language tag. */
  lang: string;
  /** Number of messages after storing. */
  messages: number;
}

/** Returns the URL of a version's texts in one language; `ending` selects another file type. */
export function languageAddress(
  { handler, version, lang }: Pick<LanguageToStore, 'handler' | 'version' | 'lang'>,
  ending = '',
): string {
  const parts = ['handlers', handler, 'versions', version, 'resources', lang].map(encodeURIComponent);
  return `/upload/${parts.join('/')}${ending}`;
}

/**
 * Stores a language over HTTP, because a file with 20,000 messages is too large for tRPC. Throws `DoorError` if the
 * portal rejects the file.
 */
export async function storeLanguage({ file, revision, ...place }: LanguageToStore): Promise<StoreLanguageAnswer> {
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
