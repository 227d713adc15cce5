import { z } from 'zod';
import { allow } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { probePort } from '#server/domain/topology-rules/endpoints.ts';
import { portProtocols, slots } from '#server/domain/topology-rules/words.ts';
import { vmId } from '#server/domain/vms/input.ts';
import { type EndpointView, endpointView, proxyState } from './endpoint-view.ts';
import { getTopology, type Topology } from './get-topology.ts';
import { type GetModelInput, getModelInput } from './input.ts';

const member = z.object({
  instanceId: z.string(),
  vmId,
  address: z.string().nullable().describe('The internal address that the agent reported; null before it enrolls.'),
  localPort: z.number().int(),
  source: endpointView.shape.source,
  traffic: endpointView.shape.traffic,
});

const publicEndpoint = z.object({
  cloudService: z.string(),
  dnsName: z.string().nullable(),
  publicAddress: z.string().nullable(),
  deployment: z.string(),
  slot: z.enum(slots),
  protocol: z.enum(portProtocols),
  publicPort: z.number().int(),
  set: z.string().nullable(),
  reachable: endpointView.shape.reachable,
  fault: endpointView.shape.fault,
  probe: z.object({ protocol: z.literal('tcp'), port: count }).describe('The port that shows whether a member works.'),
  members: z.array(member),
});

/** The ports of a model and the instances to which they lead, as the API returns them. */
export const publicEndpoints = z.object({ proxy: proxyState, items: z.array(publicEndpoint) });
export type PublicEndpoints = z.infer<typeof publicEndpoints>;

/**
 * Lists the ports of a model with the instances to which they lead, for example for a load balancer outside of Annex.
 * Throws 404 `model_unknown`.
 */
export async function listEndpoints(ctx: Context, input: GetModelInput): Promise<PublicEndpoints> {
  allow(ctx.actor, 'viewer');
  const { proxy, cloudServices } = await getTopology(ctx, parse(getModelInput, input));
  const items = cloudServices.flatMap((service) =>
    service.deployments.flatMap((deployment) =>
      [...Map.groupBy(deployment.endpoints, ({ protocol, publicPort }) => `${protocol} ${publicPort}`).values()].map(
        (all) => show(service, deployment, all),
      ),
    ),
  );
  return { proxy, items };
}

type Service = Topology['cloudServices'][number];

/** Shows the endpoints of one port. */
function show(
  { name: cloudService, dnsName, publicAddress }: Service,
  { name: deployment, slot, roles }: Service['deployments'][number],
  all: readonly EndpointView[],
): PublicEndpoints['items'][number] {
  const [first] = all;
  if (first === undefined) throw new Error('a port has at least one endpoint');
  const { protocol, publicPort, set, fault } = first;
  return {
    ...{ cloudService, dnsName, publicAddress, deployment, slot, protocol, publicPort, set, fault },
    reachable: all.some((one) => one.reachable),
    probe: { protocol: 'tcp', port: probePort(first) },
    members: all.flatMap(({ role: name, localPort, source, traffic }) => {
      const role = roles.find((one) => one.role === name);
      if (role === undefined) return [];
      const { id: instanceId, vmId: vm, internalAddress: address } = role;
      return [{ instanceId, vmId: vm, address, localPort, source, traffic }];
    }),
  };
}
