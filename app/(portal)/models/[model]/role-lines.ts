import type { VmHealth } from '#server/domain/verdicts/words.ts';
import type { ShownCloudService, ShownDeployment, ShownEndpoint, ShownMachine, ShownRole } from '../model-data.ts';

/** A role with what surrounds it. */
export interface RoleLine {
  service: ShownCloudService;
  deployment: ShownDeployment;
  role: ShownRole;
  ports: readonly ShownEndpoint[];
  /** Undefined until the machines are loaded. */
  machine: ShownMachine | undefined;
}

/** Counts machines by health. */
export function countHealth(machines: readonly Pick<ShownMachine, 'health'>[]): Partial<Record<VmHealth, number>> {
  const counts: Partial<Record<VmHealth, number>> = {};
  for (const { health } of machines) counts[health] = (counts[health] ?? 0) + 1;
  return counts;
}

/** Returns the roles of cloud services, by machine within each deployment. */
export function linesOf(services: readonly ShownCloudService[], machines: readonly ShownMachine[]): RoleLine[] {
  const byVm = new Map(machines.map((machine) => [machine.vmId, machine]));
  return services.flatMap((service) =>
    service.deployments.flatMap((deployment) =>
      deployment.roles.map((role) => ({
        ...{ service, deployment, role, machine: byVm.get(role.vmId) },
        ports: deployment.endpoints.filter((endpoint) => endpoint.role === role.role),
      })),
    ),
  );
}

/** Returns the address of a role: what its agent reported or, before it enrolls, what the provider assigned. */
export const addressOf = ({ internalAddress, assignedAddress }: ShownRole): string | null =>
  internalAddress ?? assignedAddress;

/** Returns the connections that the proxy led to a role since its ports were opened. */
export const connectionsOf = (ports: readonly Pick<ShownEndpoint, 'traffic'>[]): number =>
  ports.reduce((sum, { traffic }) => sum + (traffic?.connections ?? 0), 0);

/** Whether a role matches a search for part of a name, an id or an address. */
export function isMatch({ service, role }: Pick<RoleLine, 'service' | 'role'>, search: string): boolean {
  const wanted = search.trim().toLowerCase();
  const { name, dnsName, publicAddress } = service;
  const texts = [
    role.vm,
    role.hostname,
    role.id,
    role.internalAddress,
    role.assignedAddress,
    name,
    dnsName,
    publicAddress,
  ];
  return wanted === '' || texts.some((text) => text?.toLowerCase().includes(wanted));
}

/** Returns the first services with at least `most` roles together, or all of them. */
export function firstServices(services: readonly ShownCloudService[], most: number): ShownCloudService[] {
  let roles = 0;
  return services.filter((service) => {
    const isShown = roles < most;
    roles += Math.max(1, rolesOf(service));
    return isShown;
  });
}

/** Returns the number of roles in a cloud service. */
export const rolesOf = ({ deployments }: ShownCloudService): number =>
  deployments.reduce((sum, { roles }) => sum + roles.length, 0);
