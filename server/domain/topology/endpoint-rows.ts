import { and, eq } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { endpoints, vmRoles } from '#db/schema/index.ts';
import type { RoleEndpoint } from '#server/domain/topology-rules/endpoints.ts';
import { tell } from '#server/platform/wakes/index.ts';

/** The channel on which the fabric learns that reachable endpoints changed. The payload is the cloud service. */
export const endpointsChannel = 'annex_endpoints';

/** Wakes the fabric after the commit, so that it reads the reachable endpoints again. */
export const tellFabric = (tx: Transaction, ...services: readonly string[]): Promise<void> =>
  tell(tx, endpointsChannel, services);

/** Reads the endpoints of a deployment as the rules take them. */
export async function readEndpoints(
  db: Database | Transaction,
  service: string,
  deployment: string,
): Promise<RoleEndpoint[]> {
  const rows = await db
    .select({ endpoint: endpoints, role: vmRoles.name })
    .from(endpoints)
    .innerJoin(vmRoles, eq(vmRoles.vmId, endpoints.vmId))
    .where(and(eq(endpoints.cloudService, service), eq(endpoints.deployment, deployment)))
    .orderBy(endpoints.publicPort, endpoints.protocol, vmRoles.name);
  return rows.map(({ endpoint, role }) => ruleEndpoint(endpoint, role));
}

/** Returns a stored endpoint as the rules take it. */
export const ruleEndpoint = (
  { protocol, publicPort, localPort, name, setName, source }: typeof endpoints.$inferSelect,
  role: string,
): RoleEndpoint => ({ role, protocol, publicPort, localPort, name, set: setName, source });
