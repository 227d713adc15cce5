import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { AgentError, sentenceOf } from '../agent-error.ts';

/** How the portal is reached from this machine. */
export interface Route {
  /** Address of an HTTP proxy; without it the proxy variables of the environment count. */
  proxy?: string;
  /** Hosts that are reached without it, with commas between; without it NO_PROXY. */
  directHosts?: string;
  /** PEM file of certificate authorities that are trusted beside the machine's. */
  ca?: string;
  environment: Record<string, string | undefined>;
}

/** A proxy elsewhere cannot reach what this machine calls itself. */
const thisMachine = ['localhost', '127.0.0.1', '[::1]', '::1'];

/** The proxy settings in the form that Node's HTTP agents read. */
export function proxiesOf({ proxy, directHosts, environment }: Route): NodeJS.ProcessEnv {
  const direct = directHosts ?? environment.NO_PROXY ?? environment.no_proxy ?? '';
  const proxies: Route['environment'] = {
    HTTP_PROXY: proxy ?? (environment.HTTP_PROXY || environment.http_proxy),
    HTTPS_PROXY: proxy ?? (environment.HTTPS_PROXY || environment.https_proxy),
    NO_PROXY: [...direct.split(',').filter(Boolean), ...thisMachine].join(','),
  };
  // Next widens this type by a NODE_ENV that is none of a proxy's.
  return proxies as NodeJS.ProcessEnv;
}

/** The text of a PEM file, once each of its certificates can be read. */
export function authoritiesIn(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new AgentError(`The file of --ca cannot be read: ${sentenceOf(error)}.`);
  }
  try {
    const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
    for (const certificate of certificates) new X509Certificate(certificate);
    if (certificates.length > 0) return text;
  } catch {
    // Said below.
  }
  throw new AgentError(`${file}, the file of --ca, holds no certificate in PEM form, or one that is damaged.`);
}

/** Trust in the authorities of Node, of this machine, and the given ones. Made once: it takes 40 ms. */
export function trusting(own: string[]): { secureContext: SecureContext } {
  const known = (['bundled', 'system', 'extra'] as const).flatMap((kind) => getCACertificates(kind));
  return { secureContext: createSecureContext({ ca: [...new Set([...known, ...own])] }) };
}
