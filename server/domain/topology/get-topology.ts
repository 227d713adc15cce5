import { and, eq, inArray, isNull } from 'drizzle-orm';
import { z } from 'zod';
import { cloudServices, deployments, endpoints } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { isCovered } from '#server/domain/topology-rules/deployments.ts';
import { isReachable } from '#server/domain/topology-rules/endpoints.ts';
import { portProtocols, resourceStates, slots } from '#server/domain/topology-rules/words.ts';
import { type GetModelInput, getModelInput } from './input.ts';
import { instance, readInstances } from './list-instances.ts';
import { readModel } from './model-rows.ts';

const endpoint = z.object({
  role: z.string(),
  protocol: z.enum(portProtocols),
  publicPort: z.number().int(),
  localPort: z.number().int(),
  name: z.string(),
  set: z.string().nullable().describe('The load-balancing set; null if only this role has the port.'),
  reachable: z.boolean().describe('Whether the public address leads to the endpoint.'),
});

const deployment = z.object({
  name: z.string(),
  slot: z.enum(slots),
  covered: z.boolean().describe('Whether the 99.95 % agreement covers the roles: two or more in one availability set.'),
  roles: z.array(instance),
  endpoints: z.array(endpoint),
});

/** The cloud services of a model, as the API returns them. */
export const topology = z
  .object({
    cloudServices: z.array(
      z.object({
        name: z.string(),
        label: z.literal('controller').nullable(),
        state: z.enum(resourceStates),
        dnsName: z.string().nullable(),
        publicAddress: z.string().nullable(),
        deployments: z.array(deployment),
      }),
    ),
  })
  .meta({ id: 'Topology' });
export type Topology = z.infer<typeof topology>;

/** Returns the cloud services of a model with their deployments, roles and endpoints. Throws 404 `model_unknown`. */
export async function getTopology(ctx: Context, input: GetModelInput): Promise<Topology> {
  allow(ctx.actor, 'viewer');
  const { model: name } = parse(getModelInput, input);
  const { id } = await readModel(ctx.db, name);
  const services = await ctx.db
    .select()
    .from(cloudServices)
    .where(and(eq(cloudServices.modelId, id), isNull(cloudServices.goneAt)))
    .orderBy(cloudServices.createdAt, cloudServices.name);
  const names = services.map((service) => service.name);
  const placed = await ctx.db
    .select()
    .from(deployments)
    .where(inArray(deployments.cloudService, names))
    .orderBy(deployments.slot);
  const opened = await ctx.db
    .select()
    .from(endpoints)
    .where(inArray(endpoints.cloudService, names))
    .orderBy(endpoints.publicPort);
  const instances = await readInstances(ctx, id);
  const placedIn = Map.groupBy(placed, ({ cloudService }) => cloudService);
  const rolesIn = Map.groupBy(instances, ({ deployment }) => deployment);
  const portsIn = Map.groupBy(opened, ({ deployment }) => deployment);
  const roleOf = new Map(instances.map((one) => [one.vmId, one.role]));
  return {
    cloudServices: services.map(({ name: service, label, state, dnsName, publicAddress }) => ({
      ...{ name: service, label, state, dnsName, publicAddress },
      deployments: (placedIn.get(service) ?? []).map(({ name: own, slot }) => {
        // The name of a deployment contains that of its cloud service, so it is unique.
        const roles = rolesIn.get(own) ?? [];
        const ports = portsIn.get(own) ?? [];
        return { name: own, slot, covered: isCovered(roles), roles, endpoints: ports.map(shown(slot, roleOf)) };
      }),
    })),
  };
}

const shown =
  (slot: (typeof slots)[number], roleOf: ReadonlyMap<string, string>) =>
  ({ vmId, protocol, publicPort, localPort, name, setName, source }: typeof endpoints.$inferSelect) => {
    const role = roleOf.get(vmId) ?? '';
    const reachable = isReachable(
      { role, protocol, publicPort, localPort, name, set: setName, source },
      slot,
      () => false,
    );
    return { role, protocol, publicPort, localPort, name, set: setName, reachable };
  };
