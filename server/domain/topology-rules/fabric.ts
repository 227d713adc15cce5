import type { PortProtocol } from './words.ts';

/** Why the fabric’s proxy cannot listen on a public port. */
export const listenerReasons = [
  'address_in_use',
  'address_absent',
  'port_reserved',
  'files_exhausted',
  'other',
] as const;
export type ListenerReason = (typeof listenerReasons)[number];

/** A public port of a cloud service on which the fabric’s proxy cannot listen. */
export interface ListenerFault {
  cloudService: string;
  protocol: PortProtocol;
  publicPort: number;
  reason: ListenerReason;
  /** ISO 8601. */
  since: string;
}

/** A port of a role instance, to which the proxy connects. */
export interface FabricMember {
  vmId: string;
  address: string;
  localPort: number;
}

/** A public port that the proxy serves, with the members over which it balances connections. */
export interface PublicEndpoint {
  cloudService: string;
  publicAddress: string;
  protocol: PortProtocol;
  publicPort: number;
  members: FabricMember[];
}

/** What the proxy carried for a member since the last note. */
export interface MemberTraffic {
  vmId: string;
  protocol: PortProtocol;
  publicPort: number;
  connections: number;
  bytes: number;
}

/** Returns the key of a member’s port, by which its connections and its traffic are found. */
export const memberPortKey = ({
  vmId,
  protocol,
  publicPort,
}: Pick<MemberTraffic, 'vmId' | 'protocol' | 'publicPort'>): string => `${vmId} ${protocol} ${publicPort}`;

/** Maps an error of the system to the reason that pages show. */
export const listenerReason = (code: string | undefined): ListenerReason => reasonByCode[code ?? ''] ?? 'other';

const reasonByCode: Readonly<Record<string, ListenerReason>> = {
  EADDRINUSE: 'address_in_use',
  EADDRNOTAVAIL: 'address_absent',
  EACCES: 'port_reserved',
  EPERM: 'port_reserved',
  EMFILE: 'files_exhausted',
  ENFILE: 'files_exhausted',
};
