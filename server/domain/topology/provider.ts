import type { RoleEndpoint } from '#server/domain/topology-rules/endpoints.ts';
import type { DeploymentSlot, ServiceLabel } from '#server/domain/topology-rules/words.ts';

/** A role as a provider creates it. The password and the enrollment token are secret. */
export interface RoleDescription {
  name: string;
  hostname: string;
  userName: string;
  password: string;
  size: string;
  disks: readonly { name: string; sizeGib: number }[];
  network: string;
  availabilitySet: string | null;
  /** With these, the machine can enroll as the instance of the role. Null for a machine that is enrolled already. */
  enrollment: { instanceId: string; token: string } | null;
}

/** A place for a cloud service, as a provider assigns it. */
export interface ServiceAddress {
  dnsName: string;
  publicAddress: string;
}

/**
 * Creates and deletes what the inventory contains. The inventory is Annex's own, so a provider is never read. Calls are
 * outside of transactions and idempotent by name: creating what exists and deleting what does not exist succeed. A call
 * settles within ten seconds, so that requests end before their leases.
 */
export interface CloudProvider {
  affinityGroup(name: string, location: string): Promise<'created' | 'existed'>;
  network(name: string, cidr: string): Promise<'created' | 'existed'>;
  /** Throws `NameTakenError` if a cloud service of another customer has the name. */
  cloudService(service: { name: string; label: ServiceLabel | null; affinityGroup: string }): Promise<ServiceAddress>;
  /** Creates a deployment with its first role. If the deployment exists, adds the role. */
  deployment(
    service: string,
    deployment: string,
    slot: DeploymentSlot,
    first: RoleDescription,
  ): Promise<{ assignedAddress: string }>;
  role(service: string, deployment: string, role: RoleDescription): Promise<{ assignedAddress: string }>;
  /** Replaces the endpoints of a role. */
  endpoints(service: string, deployment: string, role: string, all: readonly RoleEndpoint[]): Promise<void>;
  /** Puts the deployments of a cloud service into the slots, so that the public address leads to Production. */
  swap(service: string, slots: Readonly<Record<DeploymentSlot, string | null>>): Promise<void>;
  /** Deletes roles, and the deployment with its last role. */
  dropRoles(service: string, deployment: string, roles: readonly string[]): Promise<void>;
  dropCloudService(name: string): Promise<void>;
  /**
   * Deletes a network or affinity group that a call created, and keeps one that existed before. A process can be killed
   * before it stores which of the two it is.
   */
  dropNetwork(name: string): Promise<void>;
  dropAffinityGroup(name: string): Promise<void>;
}

/** The provider already has a cloud service with this name, which is not in the inventory. */
export class NameTakenError extends Error {
  override readonly name = 'NameTakenError';
}

/** The calls of a provider. Errors and pages name the call that failed. */
export type ProviderStep = keyof CloudProvider;
