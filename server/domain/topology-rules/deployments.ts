import { portText, type RoleEndpoint } from './endpoints.ts';
import type { DeploymentSlot } from './words.ts';

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

/** The ports of a cloud service that a swap adds to its public address, removes from it, or leads elsewhere. */
export interface SwapPlan {
  opens: string[];
  closes: string[];
  keeps: string[];
}

/** Returns what a swap does to the public ports. `reachable` contains what would be reachable in Production. */
export function planSwap(reachable: {
  production: readonly RoleEndpoint[];
  staging: readonly RoleEndpoint[];
}): SwapPlan {
  const [before, after] = [portsOf(reachable.production), portsOf(reachable.staging)];
  return {
    opens: after.filter((port) => !before.includes(port)),
    closes: before.filter((port) => !after.includes(port)),
    keeps: before.filter((port) => after.includes(port)),
  };
}

const portsOf = (endpoints: readonly RoleEndpoint[]): string[] =>
  [...endpoints]
    .sort((a, b) => a.publicPort - b.publicPort || a.protocol.localeCompare(b.protocol))
    .map(portText)
    .filter((port, index, all) => all.indexOf(port) === index);

/** Number of roles in an availability set from which the agreement covers them (JU-6). */
export const rolesForAgreement = 2;

interface SetMember {
  availabilitySet: string | null;
  state: string;
}

/** The roles of a deployment that are in an availability set and not being deleted. */
export const rolesInSet = <Role extends SetMember>(roles: readonly Role[]): Role[] =>
  roles.filter(({ availabilitySet, state }) => availabilitySet !== null && state !== 'deleting');

/** Whether the 99.95 % agreement covers the roles of a deployment (JU-6, JU-42). Roles being deleted do not count. */
export const isCovered = (roles: readonly SetMember[]): boolean => rolesInSet(roles).length >= rolesForAgreement;
