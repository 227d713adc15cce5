import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { cache } from 'react';
import type { PortalRuntime } from '#server/portal/runtime.ts';

/** Returns the portal. It runs in the same process, so pages can call its procedures without HTTP. */
export function runtime(): PortalRuntime {
  const found = (globalThis as { [portalKey]?: PortalRuntime })[portalKey];
  if (found === undefined) throw new Error('The pages are served by the portal: start them with `npm start`.');
  return found;
}

const portalKey = Symbol.for('annex.portal');

/** The request's headers: session, chosen language, and the browser's languages. */
const readerHeaders = cache(async (): Promise<Headers> => new Headers(await headers()));

/**
 * Returns a caller of procedures for the current reader, who may be anonymous. For pages that are shown before signing
 * in.
 */
export const openPortal = cache(async () => runtime().caller(await readerHeaders()));

/**
 * Returns a caller of procedures for the reader of this page: `const vm = await (await portal()).vms.get({ vmId })`.
 * Redirects an anonymous reader to the sign-in page: a page renders in parallel with its layout and must not load data
 * anonymously.
 */
export const portal = cache(async () => {
  // Also redirects a reader who must set up a second factor first.
  if (((await reader())?.role ?? null) === null) redirect(await signInAddress());
  return openPortal();
});

/**
 * Returns the URL of the sign-in page. After signing in, the reader is redirected back to this page. The portal passes
 * on the requested path in a header, because Next.js does not.
 */
export async function signInAddress(): Promise<string> {
  const path = (await headers()).get('x-annex-path');
  return path === null || path === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(path)}`;
}

/** Returns the reader of this page; null if no one is signed in. */
export const reader = cache(async () => runtime().session(await readerHeaders()));
