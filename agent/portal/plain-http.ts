import { isIPv4 } from 'node:net';

/** Whether calls to this host stay on this machine. */
export function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]') return true;
  return isIPv4(hostname) && hostname.startsWith('127.');
}

/** The warning for an unencrypted portal address; null if it is encrypted or local. */
export function plainHttpWarning(address: string): string | null {
  const { protocol, hostname } = new URL(address);
  if (protocol !== 'http:' || isLoopback(hostname)) return null;
  return `${address} is not encrypted: others on the network can read the credential and settings, and change what this machine runs.`;
}

export const plainHttpAdvice = 'Put TLS in front of the portal, and enroll again with its https address.';
