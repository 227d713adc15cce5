import { DoorError } from '#app/_lib/post-json.ts';
import { problemOfResponse } from '#app/_lib/problem.ts';
import { canonicalLanguage } from '#protocol/language.ts';
import { languageAddress } from './store-language.ts';

/** The portal's response to a translator's file. */
export interface XliffOutcome {
  lang: string;
  revision: number;
  stored: boolean;
  added: number;
  changed: number;
  same: number;
  untranslated: number;
  changes: { id: string; before: string | null; after: string }[];
  findings: { code: string; message: string; path?: string }[];
}

interface Sent {
  handler: string;
  version: string;
  lang: string;
  file: File;
  /**
   * If given, the portal stores the file, provided that the language still has this revision. If absent, the portal
   * only reports what would change.
   */
  revision?: number;
}

/** Sends the file over HTTP. Throws `DoorError` if the portal rejects it. */
export async function sendXliff({ file, revision, ...place }: Sent): Promise<XliffOutcome> {
  const response = await fetch(`${languageAddress(place, '.xlf')}${revision === undefined ? '?dryRun=true' : ''}`, {
    method: 'PUT',
    headers: {
      'content-type': 'application/xliff+xml',
      ...(revision !== undefined && { 'if-match': `"${revision}"` }),
    },
    body: file,
  });
  if (!response.ok) throw new DoorError(await problemOfResponse(response));
  return response.json();
}

const headBytes = 4096;

/**
 * Returns the target language that the file's header names, or null if the header names no language. The portal checks
 * the language again.
 */
export async function targetOf(file: File): Promise<string | null> {
  const bytes = new Uint8Array(await file.slice(0, headBytes).arrayBuffer());
  const encoding = bytes[0] === 0xff ? 'utf-16le' : bytes[0] === 0xfe ? 'utf-16be' : 'utf-8';
  const head = new TextDecoder(encoding).decode(bytes);
  const named = /\s(?:trgLang|target-language)\s*=\s*["']([^"']{1,100})["']/.exec(head)?.[1];
  return named === undefined ? null : canonicalLanguage(named);
}
