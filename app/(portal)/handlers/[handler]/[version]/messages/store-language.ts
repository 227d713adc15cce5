import { problemOfResponse } from '#app/_lib/problem.ts';
import { DoorError } from '#app/_lib/session.ts';

export interface LanguageToStore {
  handler: string;
  version: string;
  lang: string;
  /** A resource file: an array of one. */
  file: unknown;
}

export interface StoredLanguage {
  /** Canonical. */
  lang: string;
  /** How many it has now. */
  messages: number;
}

/** Puts a language in its place by the pages' own door: 20,000 messages are too large for tRPC. Throws `DoorError`. */
export async function storeLanguage({ handler, version, lang, file }: LanguageToStore): Promise<StoredLanguage> {
  const parts = ['handlers', handler, 'versions', version, 'resources', lang].map(encodeURIComponent);
  const response = await fetch(`/upload/${parts.join('/')}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', 'accept-language': document.documentElement.lang },
    body: JSON.stringify(file),
  });
  if (!response.ok) throw new DoorError(await problemOfResponse(response));
  return response.json();
}
