import { and, eq, inArray } from 'drizzle-orm';
import { z } from 'zod';
import { endpoints, endpointTraffic, vmRoles } from '#db/schema/index.ts';
import { count } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { type EndpointSource, isReachable } from '#server/domain/topology-rules/endpoints.ts';
import { listenerReasons } from '#server/domain/topology-rules/fabric.ts';
import { type DeploymentSlot, portProtocols } from '#server/domain/topology-rules/words.ts';
import { ruleEndpoint } from './endpoint-rows.ts';
import { readExposedUnits } from './exposed-units.ts';
import { readFabric } from './note-fabric.ts';

/** An endpoint of a role as the API returns it. */
export const endpointView = z.object({
  role: z.string(),
  protocol: z.enum(portProtocols),
  publicPort: z.number().int(),
  localPort: z.number().int(),
  name: z.string(),
  set: z.string().nullable().describe('The load-balancing set; null if only this role has the port.'),
  source: z
    .custom<EndpointSource>((source) => typeof source === 'string')
    .meta({ type: 'string' })
    .describe('Who opened the port: `initial` (the provider), `operator`, or `unit:` and the id of a unit.'),
  reachable: z.boolean().describe('Whether the public address leads to the endpoint.'),
  traffic: z
    .object({ connections: count, bytes: count })
    .nullable()
    .describe('What the proxy carried since the port was opened; null if the proxy is not running.'),
  fault: z.enum(listenerReasons).nullable().describe('Why the proxy cannot listen on the public port.'),
});
export type EndpointView = z.infer<typeof endpointView>;

/** Whether public addresses are served, as the API returns it. */
export const proxyState = z
  .enum(['off', 'running', 'stopped'])
  .describe('`off`: endpoints are only recorded (`ANNEX_FABRIC`). `stopped`: the proxy is not running.');

/** The endpoints of cloud services, and the state of the proxy that serves them. */
export interface PlacedEndpoints {
  proxy: z.infer<typeof proxyState>;
  /** Returns the endpoints of a deployment. */
  of(service: string, deployment: string, slot: DeploymentSlot): EndpointView[];
}

/** Reads the endpoints of cloud services. */
export async function readPlacedEndpoints(
  ctx: Pick<Context, 'db' | 'now' | 'config'>,
  services: readonly string[],
): Promise<PlacedEndpoints> {
  const rows = await ctx.db
    .select({ endpoint: endpoints, role: vmRoles.name, traffic: endpointTraffic })
    .from(endpoints)
    .innerJoin(vmRoles, eq(vmRoles.vmId, endpoints.vmId))
    .leftJoin(
      endpointTraffic,
      and(
        eq(endpointTraffic.vmId, endpoints.vmId),
        eq(endpointTraffic.protocol, endpoints.protocol),
        eq(endpointTraffic.publicPort, endpoints.publicPort),
      ),
    )
    .where(inArray(endpoints.cloudService, [...services]))
    .orderBy(endpoints.publicPort, endpoints.protocol, vmRoles.machine);
  const openedIn = Map.groupBy(rows, ({ endpoint }) => endpoint.deployment);
  const fabric = await readFabric(ctx);
  const exposed = await readExposedUnits(ctx.db, services);
  return {
    proxy: ctx.config.fabric.mode === 'off' ? 'off' : fabric === null ? 'stopped' : 'running',
    of: (service, deployment, slot) =>
      (openedIn.get(deployment) ?? []).map(({ endpoint, role, traffic }) => {
        const { source, ...rule } = ruleEndpoint(endpoint, role);
        const fault = fabric?.faults.find(
          (one) =>
            one.cloudService === service &&
            one.protocol === rule.protocol &&
            one.publicPort === rule.publicPort &&
            slot === 'production',
        );
        return {
          ...{ ...rule, source, reachable: isReachable({ source, ...rule }, slot, (unit) => exposed.has(unit)) },
          traffic: fabric === null ? null : { connections: traffic?.connections ?? 0, bytes: traffic?.bytes ?? 0 },
          fault: fault?.reason ?? null,
        };
      }),
  };
}
