import { balancedSetName } from './names.ts';
import type { DeploymentSlot, PortProtocol } from './words.ts';

/** Who opened an endpoint: the provider with the role, an operator, or a unit's hook. */
export type EndpointSource = 'initial' | 'operator' | `unit:${string}`;

/** An endpoint of a role. The endpoints of all roles of a deployment share its public ports. */
export interface RoleEndpoint {
  role: string;
  protocol: PortProtocol;
  publicPort: number;
  localPort: number;
  name: string;
  /** The load-balancing set; null if only this role has the port. */
  set: string | null;
  source: EndpointSource;
}

/** The port of a new endpoint. Without `localPort`, it is the public port. */
export interface EndpointRequest {
  role: string;
  protocol: PortProtocol;
  publicPort: number;
  localPort?: number | undefined;
  isBalanced: boolean;
  source: EndpointSource;
}

/** A role already has the port. */
export interface PortConflict {
  refusal: 'port_conflict';
  params: { port: string; role: string };
}

export const sshPort = 22;
export const apiPort = 17_070;

/** A port with its protocol, such as `80/tcp`. */
export const portText = ({ protocol, publicPort }: { protocol: PortProtocol; publicPort: number }): string =>
  `${publicPort}/${protocol}`;

const isSamePort = (a: RoleEndpoint, b: { protocol: PortProtocol; publicPort: number }): boolean =>
  a.protocol === b.protocol && a.publicPort === b.publicPort;

/**
 * Opens a port of a role. A port belongs to one role, or to a load-balancing set with any number of roles (JU-15); a
 * request for anything else is a conflict, which names the role that has the port. If the same source already opened
 * the port on the role, the endpoint is replaced.
 */
export function openEndpoint(
  endpoints: readonly RoleEndpoint[],
  request: EndpointRequest,
): { endpoints: RoleEndpoint[] } | PortConflict {
  const opened = endpointOf(request);
  const blocking = endpoints.find((other) => isSamePort(other, opened) && !canShare(other, opened));
  if (blocking !== undefined)
    return { refusal: 'port_conflict', params: { port: portText(opened), role: blocking.role } };
  const others = endpoints.filter((other) => !(isSamePort(other, opened) && other.role === opened.role));
  return { endpoints: [...others, opened] };
}

function canShare(other: RoleEndpoint, opened: RoleEndpoint): boolean {
  if (other.role === opened.role) return other.source === opened.source;
  return other.set !== null && other.set === opened.set;
}

function endpointOf({ role, protocol, publicPort, localPort, isBalanced, source }: EndpointRequest): RoleEndpoint {
  const set = isBalanced ? balancedSetName(protocol, publicPort) : null;
  const name = `${balancedSetName(protocol, publicPort)}${isBalanced ? `_${publicPort}` : ''}`;
  return { role, protocol, publicPort, localPort: localPort ?? publicPort, name, set, source };
}

/** Closes a port of a role. Only the source that opened the port can close it; otherwise nothing changes. */
export const closeEndpoint = (
  endpoints: readonly RoleEndpoint[],
  { role, source, ...port }: Pick<EndpointRequest, 'role' | 'protocol' | 'publicPort' | 'source'>,
): RoleEndpoint[] =>
  endpoints.filter((other) => !(isSamePort(other, port) && other.role === role && other.source === source));

/** Removes all endpoints of a role, for example because the role is deleted. */
export const closeRole = (endpoints: readonly RoleEndpoint[], role: string): RoleEndpoint[] =>
  endpoints.filter((other) => other.role !== role);

/**
 * Returns the endpoints that every role has from the beginning (JU-17): SSH, and for a controller the API. In a model
 * with availability sets, each is balanced over the roles that have it.
 */
export function initialEndpoints(
  role: string,
  { isController, isBalanced }: { isController: boolean; isBalanced: boolean },
): RoleEndpoint[] {
  const initial = (name: string, publicPort: number): RoleEndpoint => ({
    ...endpointOf({ role, protocol: 'tcp', publicPort, isBalanced, source: 'initial' }),
    name,
  });
  return [initial('ssh', sshPort), ...(isController ? [initial('api', apiPort)] : [])];
}

/** The load-balancing sets of a deployment with their members. A set without a member does not exist (JU-15). */
export function balancedSets(endpoints: readonly RoleEndpoint[]): Map<string, string[]> {
  const sets = new Map<string, string[]>();
  for (const { set, role } of endpoints) {
    if (set !== null) sets.set(set, [...(sets.get(set) ?? []), role]);
  }
  return sets;
}

/** Returns the port by which the health of a set's members is probed. UDP cannot be probed, so SSH is. */
export const probePort = ({ protocol, localPort }: RoleEndpoint): number => (protocol === 'tcp' ? localPort : sshPort);

/**
 * Whether the public address of the cloud service leads to this endpoint (JU-16): the deployment must be in Production,
 * and the service of the unit that opened the port must be exposed. `isExposed` takes the unit.
 */
export function isReachable(
  { source }: RoleEndpoint,
  slot: DeploymentSlot,
  isExposed: (unit: string) => boolean,
): boolean {
  return slot === 'production' && (!isUnit(source) || isExposed(source.slice('unit:'.length)));
}

const isUnit = (source: EndpointSource): boolean => source.startsWith('unit:');

/** Returns the ports that a unit opened. SSH and the API belong to no unit (JU-44). */
export const openedPorts = (endpoints: readonly RoleEndpoint[], unit: string): string[] =>
  endpoints.filter(({ source }) => source === `unit:${unit}`).map(portText);
