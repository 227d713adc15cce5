import { isIPv6 } from 'node:net';

/**
 * Returns the key by which clients are counted: the IPv4 address, or the /64 network of an IPv6 address, because a
 * household usually has a whole /64.
 */
export function household(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  const [head = '', tail] = address.split('::');
  const front = head.split(':');
  const back = tail === undefined ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0');
  return [...front, ...zeros, ...back].slice(0, 4).join(':');
}
