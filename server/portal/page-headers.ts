import { randomBytes } from 'node:crypto';
import type { Config } from '#server/platform/env.ts';

/**
 * What every answer of the pages says about itself: which scripts may run (those that carry this answer's number, and
 * what they load), that nothing is fetched from another host, that nobody frames us. `nonce` is in the policy; Next
 * reads it there and puts it on its own scripts.
 */
export function pageHeaders({ url, development }: Pick<Config, 'url' | 'development'>): {
  policy: string;
  headers: Readonly<Record<string, string>>;
} {
  const nonce = randomBytes(16).toString('base64');
  const secure = url.startsWith('https:');
  const policy = [
    "default-src 'none'",
    // React and Next evaluate code and write styles of their own while pages are developed.
    `script-src 'nonce-${nonce}' 'strict-dynamic'${development ? " 'unsafe-eval'" : ''}`,
    development ? "style-src 'self' 'unsafe-inline'" : `style-src 'self' 'nonce-${nonce}'`,
    // React writes positions and widths as style attributes; they can name no host that the rest does not allow.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    development ? "connect-src 'self' ws: wss:" : "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    ...(secure ? ['upgrade-insecure-requests'] : []),
  ].join('; ');
  return {
    policy,
    headers: {
      'Content-Security-Policy': policy,
      'Referrer-Policy': 'same-origin',
      'X-Frame-Options': 'DENY',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
      ...(secure ? { 'Strict-Transport-Security': 'max-age=31536000' } : {}),
    },
  };
}
