import { isIPv4 } from 'node:net';

/** Whether requests to this host stay on this machine. */
export function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]') return true;
  return isIPv4(hostname) && hostname.startsWith('127.');
}

/** Returns a warning if the portal's URL is neither encrypted nor local; otherwise null. */
export function plainHttpWarning(address: string): string | null {
  const { protocol, hostname } = new URL(address);
  if (protocol !== 'http:' || isLoopback(hostname)) return null;
  return `${address} is not encrypted: others on the network can read the credential and settings, and change what this machine runs.`;
}

export const plainHttpAdvice = 'Put TLS in front of the portal, and enroll again with its https address.';
