import { and, eq, isNotNull, isNull } from 'drizzle-orm';
import { agents, cloudServices, deployments, endpoints, models, networks, vmRoles } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { type Ipv4Network, isInNetwork, parseIpv4 } from '#server/domain/topology-rules/addresses.ts';
import { isReachable } from '#server/domain/topology-rules/endpoints.ts';
import { memberPortKey, type PublicEndpoint } from '#server/domain/topology-rules/fabric.ts';
import { ruleEndpoint } from './endpoint-rows.ts';
import { isExposedSql } from './exposed-units.ts';
import { networkOf } from './local-fabric.ts';

/** What the fabric’s proxy serves. */
export interface Reachable {
  endpoints: PublicEndpoint[];
  /**
   * The ports (`memberPortKey`) whose connections may continue: those of the endpoints, and those that a swap moved to
   * Staging. Connections to other ports are ended.
   */
  standing: Set<string>;
}

/**
 * Reads, with one statement, the public ports of all cloud services and the role instances to which they lead. Only
 * addresses in the network of the model are targets, whatever agents report (JU-33).
 */
export async function readReachable(ctx: Context): Promise<Reachable> {
  allow(ctx.actor, 'operator');
  const rows = await readRows(ctx);
  const fabric = networkOf(ctx.config.fabric.addresses);
  const found = new Map<string, PublicEndpoint>();
  const standing = new Set<string>();
  for (const { endpoint, role, slot, publicAddress, address, cidr, exposed } of rows) {
    const { vmId, cloudService, protocol, publicPort, localPort } = endpoint;
    const rule = ruleEndpoint(endpoint, role);
    if (publicAddress === null || !isReachable(rule, 'production', () => exposed)) continue;
    standing.add(memberPortKey({ vmId, protocol, publicPort }));
    if (!isReachable(rule, slot, () => exposed)) continue;
    const key = `${cloudService} ${protocol} ${publicPort}`;
    const one = found.get(key) ?? { cloudService, publicAddress, protocol, publicPort, members: [] };
    found.set(key, one);
    if (isTarget(address, networkOf(cidr), fabric)) one.members.push({ vmId, address, localPort });
  }
  return { endpoints: [...found.values()], standing };
}

const readRows = ({ db }: Context) =>
  db
    .select({
      ...{ endpoint: endpoints, role: vmRoles.name, slot: deployments.slot, address: agents.internalAddress },
      ...{ publicAddress: cloudServices.publicAddress, cidr: networks.cidr, exposed: isExposedSql },
    })
    .from(endpoints)
    .innerJoin(vmRoles, and(eq(vmRoles.vmId, endpoints.vmId), eq(vmRoles.state, 'ready')))
    .innerJoin(
      deployments,
      and(eq(deployments.cloudService, endpoints.cloudService), eq(deployments.name, endpoints.deployment)),
    )
    .innerJoin(
      cloudServices,
      and(
        eq(cloudServices.name, endpoints.cloudService),
        isNotNull(cloudServices.publicAddress),
        isNull(cloudServices.goneAt),
      ),
    )
    .innerJoin(models, eq(models.id, vmRoles.modelId))
    .innerJoin(networks, eq(networks.name, models.network))
    .leftJoin(agents, eq(agents.vmId, endpoints.vmId))
    .orderBy(endpoints.cloudService, endpoints.protocol, endpoints.publicPort, vmRoles.machine);

/** Whether the proxy may connect to an address: one in the network of the model that is not one of the fabric’s own. */
function isTarget(address: string | null, network: Ipv4Network, fabric: Ipv4Network): address is string {
  const parsed = address === null ? null : parseIpv4(address);
  return parsed !== null && isInNetwork(network, parsed) && !isInNetwork(fabric, parsed);
}
