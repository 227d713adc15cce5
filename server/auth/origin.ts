import { DomainError } from '#server/domain/error.ts';
import type { Config } from '#server/platform/env.ts';

const loopback = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Returns the origins of the portal's pages: the origin of its URL or, if the URL has a loopback name, the same port
 * under each loopback name.
 */
export function trustedOrigins(config: Config): readonly string[] {
  const own = new URL(config.url);
  if (!loopback.includes(own.hostname)) return [own.origin];
  const port = own.port === '' ? '' : `:${own.port}`;
  return loopback.map((host) => `${own.protocol}//${host}${port}`);
}

/**
 * Whether a mutation comes from the portal's pages. Browsers send `Origin` or `Sec-Fetch-Site` with every mutation and
 * pages cannot forge them, so a request without either is not from a page.
 */
export function isOwnMutation(headers: Headers, config: Config): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null && site !== 'same-origin') return false;
  const origin = headers.get('origin');
  return origin === null ? site === 'same-origin' : trustedOrigins(config).includes(origin);
}

/**
 * Whether a GET may come from the portal's pages. Browsers send `Origin` with GETs only if a script from another origin
 * makes them.
 */
export function isOwnRead(headers: Headers, config: Config): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null && site !== 'same-origin' && site !== 'none') return false;
  const origin = headers.get('origin');
  return origin === null || trustedOrigins(config).includes(origin);
}

/** Rejects a GET that does not come from the portal's pages. */
export function requireOwnRead(headers: Headers, config: Config): void {
  if (!isOwnRead(headers, config)) {
    throw new DomainError('forbidden', 'origin_refused', { params: { url: config.url } });
  }
}

/** Rejects a mutation that does not come from the portal's pages. */
export function requireOwnMutation(headers: Headers, config: Config): void {
  if (!isOwnMutation(headers, config)) {
    throw new DomainError('forbidden', 'origin_refused', { params: { url: config.url } });
  }
}

/**
 * Returns the page to open after a sign-in: the requested path or, if it is not a path of this portal, the start page.
 * The path is parsed as browsers parse it, so that it cannot lead to another site.
 */
export function ownPath(wish: string | undefined): string {
  const here = 'http://annex.invalid';
  if (!wish?.startsWith('/') || !URL.canParse(wish, here)) return '/';
  const { origin, pathname, search, hash } = new URL(wish, here);
  return origin === here && !pathname.startsWith('//') ? pathname + search + hash : '/';
}
