import { DomainError } from '#server/domain/error.ts';
import type { Config } from '#server/platform/env.ts';

const loopback = ['localhost', '127.0.0.1', '[::1]'];

/** Origins whose pages may act: the portal's own. On this machine its other names count too. */
export function trustedOrigins(config: Config): readonly string[] {
  const own = new URL(config.url);
  if (!loopback.includes(own.hostname)) return [own.origin];
  const port = own.port === '' ? '' : `:${own.port}`;
  return loopback.map((host) => `${own.protocol}//${host}${port}`);
}

/**
 * Whether a request that changes something comes from a page of ours. Browsers send `Origin` with every such request
 * and pages cannot forge it; a request without it is no page's. `Sec-Fetch-Site` alone is believed too.
 */
export function isOwnMutation(headers: Headers, config: Config): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null && site !== 'same-origin') return false;
  const origin = headers.get('origin');
  return origin === null ? site === 'same-origin' : trustedOrigins(config).includes(origin);
}

/** Whether a GET comes from a page of ours: there browsers leave `Origin` out, but send it across sites. */
export function isOwnRead(headers: Headers, config: Config): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null && site !== 'same-origin' && site !== 'none') return false;
  const origin = headers.get('origin');
  return origin === null || trustedOrigins(config).includes(origin);
}

/** Refuses a GET that does not come from a page of ours. */
export function requireOwnRead(headers: Headers, config: Config): void {
  if (!isOwnRead(headers, config)) {
    throw new DomainError('forbidden', 'origin_refused', { params: { url: config.url } });
  }
}

/** Refuses a request that changes something and does not come from a page of ours. */
export function requireOwnMutation(headers: Headers, config: Config): void {
  if (!isOwnMutation(headers, config)) {
    throw new DomainError('forbidden', 'origin_refused', { params: { url: config.url } });
  }
}

/** A path of this portal, or its start: where to go after a sign-in. As a browser reads it, so that nothing leads away. */
export function ownPath(wish: string | undefined): string {
  const here = 'http://annex.invalid';
  if (!wish?.startsWith('/') || !URL.canParse(wish, here)) return '/';
  const { origin, pathname, search, hash } = new URL(wish, here);
  return origin === here && !pathname.startsWith('//') ? pathname + search + hash : '/';
}
