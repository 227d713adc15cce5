import { randomBytes } from 'node:crypto';
import type { Config } from '#server/platform/env.ts';

/**
 * Returns the pages' security headers: scripts need this response's nonce, nothing is loaded from other hosts, and no
 * site may frame the pages. Next.js reads the nonce from the policy and adds it to its own scripts.
 */
export function pageHeaders({ url, development }: Pick<Config, 'url' | 'development'>): {
  policy: string;
  headers: Readonly<Record<string, string>>;
} {
  const nonce = randomBytes(16).toString('base64');
  const secure = url.startsWith('https:');
  const policy = [
    "default-src 'none'",
    // During development, React and Next.js evaluate code and add inline styles.
    `script-src 'nonce-${nonce}' 'strict-dynamic'${development ? " 'unsafe-eval'" : ''}`,
    development ? "style-src 'self' 'unsafe-inline'" : `style-src 'self' 'nonce-${nonce}'`,
    // React writes positions and widths as style attributes. These can load resources only from allowed hosts.
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
