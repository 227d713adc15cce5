import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { cache } from 'react';
import type { PortalRuntime } from '#server/portal/runtime.ts';

/** The portal around these pages. It serves them from its own process, so a page calls verbs without a network. */
export function runtime(): PortalRuntime {
  const found = (globalThis as { [portalKey]?: PortalRuntime })[portalKey];
  if (found === undefined) throw new Error('The pages are served by the portal: start them with `npm start`.');
  return found;
}

const portalKey = Symbol.for('annex.portal');

/** The request's headers: whose session it is, the chosen language, and the browser's list. */
const readerHeaders = cache(async (): Promise<Headers> => new Headers(await headers()));

/** Calls procedures as whoever looks, who need not be signed in: for the pages before the sign-in. */
export const openPortal = cache(async () => runtime().caller(await readerHeaders()));

/**
 * Calls procedures as the reader of this page: `const vm = await (await portal()).vms.get({ vmId })`. Who is not
 * signed in is led there: a page is made beside its layout, and must not ask as nobody.
 */
export const portal = cache(async () => {
  // Nor as somebody who must set up a second factor first: the sign-in leads them there.
  if (((await reader())?.role ?? null) === null) redirect(await signInAddress());
  return openPortal();
});

/** The sign-in, with the way back. The portal tells the pages which path was asked for: Next does not. */
export async function signInAddress(): Promise<string> {
  const path = (await headers()).get('x-annex-path');
  return path === null || path === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(path)}`;
}

/** Who reads this page, or null. */
export const reader = cache(async () => runtime().session(await readerHeaders()));
