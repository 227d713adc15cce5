import type { Config } from '#server/platform/env.ts';
import type { Core } from '#server/process/http.ts';

const dayMs = 86_400_000;
/**
 * Validity of the file in days; RFC 9116 recommends less than a year. Each response starts a new period, because the
 * contacts come from the current configuration.
 */
const validDays = 90;

/** Serves `/.well-known/security.txt` (RFC 9116), which says where to report a vulnerability of this installation. */
export function createSecurityTxt(config: Pick<Config, 'securityContacts' | 'url'>): Core {
  return async () => {
    const expires = new Date((Math.floor(Date.now() / dayMs) + validDays) * dayMs);
    const lines = [
      ...config.securityContacts.map((contact) => `Contact: ${contact}`),
      `Expires: ${expires.toISOString()}`,
      `Canonical: ${config.url}/.well-known/security.txt`,
    ];
    return new Response(`${lines.join('\n')}\n`, { headers: { 'content-type': 'text/plain; charset=utf-8' } });
  };
}
