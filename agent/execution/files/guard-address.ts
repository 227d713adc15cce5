import { lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An address of a host, as Node's `lookup` returns it. */
export interface HostAddress {
  address: string;
  family: number;
}

/** Resolves a name to all of its addresses. */
export type Lookup = (host: string) => Promise<HostAddress[]>;

/**
 * Hosts that plans may reach although their addresses are private: names, addresses and networks such as 10.0.0.0/8.
 */
export type PrivateHosts = readonly string[];

/** A public address at which virtual machines on Azure reach their host. */
const azureHost = '168.63.129.16';
/** The block from which public IPv6 addresses are assigned. */
const publicIpv6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address is public: it does not belong to this machine, its network, or a service of the machine's host.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  // Converts an IPv6 address such as `::ffff:127.0.0.1` to the IPv4 address within it.
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast' || address.toString() === azureHost) return false;
  return address.kind() === 'ipv4' || address.match(publicIpv6);
}

/** Whether a host, or this address of the host, is in the list of allowed private hosts. */
export function isAllowed(hosts: PrivateHosts, host: string, address: string | null): boolean {
  return hosts.some((entry) => {
    if (entry.toLowerCase() === host.toLowerCase()) return true;
    if (address === null || !ipaddr.isValid(address)) return false;
    const own = ipaddr.process(address);
    if (ipaddr.isValid(entry)) return ipaddr.process(entry).toString() === own.toString();
    if (!ipaddr.isValidCIDR(entry)) return false;
    const network = ipaddr.parseCIDR(entry);
    return network[0].kind() === own.kind() && own.match(network);
  });
}

/** Thrown for an address whose host a plan must not reach. */
export class ForbiddenHost extends Error {
  override readonly name = 'ForbiddenHost';

  constructor(host: string, address: string) {
    const where = host === address ? host : `${host} has the address ${address}, which`;
    super(`${where} is not public. The setting planPrivateHosts allows private hosts`);
  }
}

const lookupAll: Lookup = (host) => systemLookup(host, { all: true, verbatim: true });

/**
 * Resolves the host of a URL once, and returns its addresses. The caller connects to one of these, so that a name whose
 * address changes cannot lead elsewhere. Throws ForbiddenHost if one of them is not public and not in `hosts`.
 */
export async function guardedAddresses(
  { hostname }: URL,
  hosts: PrivateHosts,
  lookup: Lookup = lookupAll,
): Promise<HostAddress[]> {
  const host = withoutBrackets(hostname);
  const family = isIP(host);
  const addresses = family === 0 ? await lookup(host) : [{ address: host, family }];
  for (const { address } of addresses) {
    if (!isPublicAddress(address) && !isAllowed(hosts, host, address)) throw new ForbiddenHost(host, address);
  }
  return addresses;
}

/**
 * Rejects a URL whose host is a private IP address that is not in `hosts`. For requests through a proxy, which resolves
 * names itself.
 */
export function guardLiteral({ hostname }: URL, hosts: PrivateHosts): void {
  const host = withoutBrackets(hostname);
  if (isIP(host) === 0 || isPublicAddress(host) || isAllowed(hosts, host, host)) return;
  throw new ForbiddenHost(host, host);
}

const withoutBrackets = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');
