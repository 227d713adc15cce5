import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { AgentError, sentenceOf } from '../agent-error.ts';

/** How this machine reaches the portal. */
export interface PortalRoute {
  /** URL of an HTTP proxy; by default from the environment's proxy variables. */
  proxy?: string;
  /** Hosts that are reached without the proxy, separated by commas; by default NO_PROXY. */
  directHosts?: string;
  /** PEM file with additional certificate authorities. */
  ca?: string;
  environment: Record<string, string | undefined>;
}

/** Names of this machine, which a proxy elsewhere cannot reach. */
const thisMachine = ['localhost', '127.0.0.1', '[::1]', '::1'];

/** Returns the proxy settings in the form that Node's HTTP agents read. */
export function proxiesOf({ proxy, directHosts, environment }: PortalRoute): NodeJS.ProcessEnv {
  const direct = directHosts ?? environment.NO_PROXY ?? environment.no_proxy ?? '';
  const proxies: PortalRoute['environment'] = {
    HTTP_PROXY: proxy ?? (environment.HTTP_PROXY || environment.http_proxy),
    HTTPS_PROXY: proxy ?? (environment.HTTPS_PROXY || environment.https_proxy),
    NO_PROXY: [...direct.split(',').filter(Boolean), ...thisMachine].join(','),
  };
  // The types of Next.js require a NODE_ENV, which proxy settings do not have.
  return proxies as NodeJS.ProcessEnv;
}

/** Returns the text of a PEM file. Throws AgentError unless it has certificates and all of them can be parsed. */
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
    // Ignores the parser's error. The code below throws an error that names the file.
  }
  throw new AgentError(`${file}, the file of --ca, contains no PEM certificate, or a damaged one.`);
}

/**
 * Returns TLS options that trust Node's certificate authorities, this machine's, and the authorities in `own`. Takes
 * about 40 ms, so call it once.
 */
export function trusting(own: string[]): { secureContext: SecureContext } {
  const known = (['bundled', 'system', 'extra'] as const).flatMap((kind) => getCACertificates(kind));
  return { secureContext: createSecureContext({ ca: [...new Set([...known, ...own])] }) };
}
