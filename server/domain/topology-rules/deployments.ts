import type { RoleEndpoint } from './endpoints.ts';
import type { DeploymentSlot, PortProtocol } from './words.ts';

/** A deployment of a cloud service. */
export interface SlotDeployment {
  name: string;
  slot: DeploymentSlot;
}

/** Whether each slot holds at most one deployment (JU-4). */
export const hasFreeSlots = (deployments: readonly SlotDeployment[]): boolean =>
  new Set(deployments.map(({ slot }) => slot)).size === deployments.length;

const otherSlot = (slot: DeploymentSlot): DeploymentSlot => (slot === 'production' ? 'staging' : 'production');

/** Exchanges the deployments in Production and Staging (JU-4). A single deployment moves to the other slot. */
export const swapSlots = <T extends SlotDeployment>(deployments: readonly T[]): T[] =>
  deployments.map((deployment) => ({ ...deployment, slot: otherSlot(deployment.slot) }));

/** A public port. */
export interface PublicPort {
  protocol: PortProtocol;
  port: number;
}

/** What a swap does to the public address of a cloud service. */
export interface PortPlan {
  /** Ports of roles to which the public address leads only after the swap. */
  becomePublic: (PublicPort & { role: string })[];
  /** Ports of roles to which it leads only before the swap. */
  ceasePublic: (PublicPort & { role: string })[];
  /** Public ports that are open before and after the swap, and lead to other roles afterwards. */
  unchanged: PublicPort[];
}

/** Returns what a swap does to the public ports. `reachable` contains what would be reachable in Production. */
export function planSwap(reachable: {
  production: readonly RoleEndpoint[];
  staging: readonly RoleEndpoint[];
}): PortPlan {
  const [before, after] = [portsOf(reachable.production), portsOf(reachable.staging)];
  const isKept = ({ protocol, port }: PublicPort) =>
    after.some((other) => other.port === port && other.protocol === protocol);
  const unchanged = before.filter(isKept).map(({ protocol, port }) => ({ protocol, port }));
  return {
    becomePublic: after,
    ceasePublic: before,
    unchanged: unchanged.filter(
      (one, index) =>
        unchanged.findIndex((other) => other.port === one.port && other.protocol === one.protocol) === index,
    ),
  };
}

const portsOf = (endpoints: readonly RoleEndpoint[]): (PublicPort & { role: string })[] =>
  endpoints
    .map(({ role, protocol, publicPort: port }) => ({ role, protocol, port }))
    .sort((a, b) => a.port - b.port || a.protocol.localeCompare(b.protocol) || a.role.localeCompare(b.role));

/** Number of roles in an availability set from which the agreement covers them (JU-6). */
export const rolesForAgreement = 2;

interface SetMember {
  availabilitySet: string | null;
  state: string;
}

/** The roles of a deployment that are in an availability set and not being deleted. */
export const rolesInSet = <Role extends SetMember>(roles: readonly Role[]): Role[] =>
  roles.filter(({ availabilitySet, state }) => availabilitySet !== null && state !== 'deleting');

/** Whether the 99.95% agreement covers the roles of a deployment (JU-6, JU-42). Roles being deleted do not count. */
export const isCovered = (roles: readonly SetMember[]): boolean => rolesInSet(roles).length >= rolesForAgreement;
