import { headers } from 'next/headers';
import { cache } from 'react';
import type { PortalRuntime } from '#server/portal/runtime.ts';
import { currentLanguage } from './i18n/server.ts';

/** The portal around these pages. It serves them from its own process, so a page calls verbs without a network. */
export function runtime(): PortalRuntime {
  const found = (globalThis as { [portalKey]?: PortalRuntime })[portalKey];
  if (found === undefined) throw new Error('The pages are served by the portal: start them with `npm start`.');
  return found;
}

const portalKey = Symbol.for('annex.portal');

/** The request's headers, with the language of the pages put first, so that messages come in it. */
const readerHeaders = cache(async (): Promise<Headers> => {
  const [incoming, language] = await Promise.all([headers(), currentLanguage()]);
  const result = new Headers(incoming);
  result.set('accept-language', wishFor(language, incoming.get('accept-language')));
  return result;
});

/** `Accept-Language` with the language of the pages before all that the browser asks for. */
export function wishFor(language: string, browser: string | null): string {
  return browser === null || browser === '' ? language : `${language},${browser}`;
}

/** Calls procedures as the reader of this page: `const vm = await (await portal()).vms.get({ vmId })`. */
export const portal = cache(async () => runtime().caller(await readerHeaders()));

/** Who reads this page, or null. */
export const reader = cache(async () => runtime().session(await readerHeaders()));
