/** An IPv4 network: its first address as a number, and the number of its addresses. */
export interface Ipv4Network {
  first: number;
  size: number;
}

const octet = String.raw`(0|[1-9]\d{0,2})`;
const ipv4Pattern = new RegExp(`^${octet}\\.${octet}\\.${octet}\\.${octet}$`);

/**
 * Parses an IPv4 address; null if the text is not one. Octets with leading zeros are rejected, because some programs read
 * them as octal.
 */
export function parseIpv4(text: string): number | null {
  const octets = ipv4Pattern.exec(text)?.slice(1).map(Number);
  if (octets === undefined || octets.some((one) => one > 255)) return null;
  return octets.reduce((sum, one) => sum * 256 + one, 0);
}

/** Formats an IPv4 address. */
export const formatIpv4 = (address: number): string =>
  [24, 16, 8, 0].map((bits) => Math.floor(address / 2 ** bits) % 256).join('.');

/** Parses a network such as `10.0.0.0/8`; null if the text is not one, or if the address is not the network's first. */
export function parseNetwork(text: string): Ipv4Network | null {
  const [address = '', bits = '', ...rest] = text.split('/');
  const first = parseIpv4(address);
  if (first === null || !/^(\d|[12]\d|3[0-2])$/.test(bits) || rest.length > 0) return null;
  const size = 2 ** (32 - Number(bits));
  return first % size === 0 ? { first, size } : null;
}

export const isInNetwork = ({ first, size }: Ipv4Network, address: number): boolean =>
  address >= first && address < first + size;

/**
 * Number of addresses at the beginning of a network that no machine gets: the network's own, and those of its services.
 */
export const reservedAddresses = 4;

/**
 * Returns the next free address of a network as its offset, from `from` on and then from the beginning; null if there
 * is none. The last address, for broadcasts, is never used.
 */
export function nextOffset({ size }: Ipv4Network, from: number, isTaken: (offset: number) => boolean): number | null {
  const usable = size - reservedAddresses - 1;
  for (let step = 0; step < usable; step += 1) {
    const offset = reservedAddresses + ((Math.max(from, reservedAddresses) - reservedAddresses + step) % usable);
    if (!isTaken(offset)) return offset;
  }
  return null;
}

/** An instance that an agent reports when it enrolls. */
export interface ReportedInstance {
  id: string;
  address: string;
}

/** What the portal knows of the VM whose token the agent has. */
export interface EnrollingVm {
  /** The instance id of the VM's role; null if the VM is not a role. */
  instanceId: string | null;
  network: Ipv4Network | null;
}

export type InstanceRefusal =
  | 'instance_missing'
  | 'instance_other_role'
  | 'instance_unknown'
  | 'instance_claimed'
  | 'address_outside_network';

/**
 * Returns why an agent may not become the instance of a role; null if it may (JU-19, JU-35). `ownerOf` returns whether
 * an id belongs to the role of another VM. `isFabricAddress` recognizes the public addresses of cloud services.
 */
export function checkInstance(
  vm: EnrollingVm,
  reported: ReportedInstance | null,
  isOfOtherVm: (id: string) => boolean,
  isFabricAddress: (address: number) => boolean,
): InstanceRefusal | null {
  if (reported === null) return vm.instanceId === null ? null : 'instance_missing';
  if (reported.id !== vm.instanceId) {
    if (isOfOtherVm(reported.id)) return 'instance_claimed';
    return vm.instanceId === null ? 'instance_unknown' : 'instance_other_role';
  }
  const address = parseIpv4(reported.address);
  const isInside = address !== null && vm.network !== null && isInNetwork(vm.network, address);
  return isInside && !isFabricAddress(address) ? null : 'address_outside_network';
}
