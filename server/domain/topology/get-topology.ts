import { and, eq, inArray, isNull } from 'drizzle-orm';
import { z } from 'zod';
import { cloudServices, deployments } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { isCovered } from '#server/domain/topology-rules/deployments.ts';
import { resourceStates, slots } from '#server/domain/topology-rules/words.ts';
import { endpointView, proxyState, readPlacedEndpoints } from './endpoint-view.ts';
import { type GetModelInput, getModelInput } from './input.ts';
import { instance, readInstances } from './list-instances.ts';
import { readModel } from './model-rows.ts';

const deployment = z.object({
  name: z.string(),
  slot: z.enum(slots),
  covered: z.boolean().describe('Whether the 99.95% agreement covers the roles: two or more in one availability set.'),
  roles: z.array(instance),
  endpoints: z.array(endpointView),
});

/** The cloud services of a model, as the API returns them. */
export const topology = z
  .object({
    proxy: proxyState,
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
  return readCloudServices(ctx, id);
}

/** Reads the cloud services of a model, or only the named one, with what is in them. */
export async function readCloudServices(ctx: Context, modelId: string, only?: string): Promise<Topology> {
  const services = await ctx.db
    .select()
    .from(cloudServices)
    .where(
      and(
        eq(cloudServices.modelId, modelId),
        isNull(cloudServices.goneAt),
        only === undefined ? undefined : eq(cloudServices.name, only),
      ),
    )
    .orderBy(cloudServices.createdAt, cloudServices.name);
  const names = services.map((service) => service.name);
  const placed = await ctx.db
    .select()
    .from(deployments)
    .where(inArray(deployments.cloudService, names))
    .orderBy(deployments.slot);
  const opened = await readPlacedEndpoints(ctx, names);
  const instances = await readInstances(ctx, modelId, only === undefined ? null : [only]);
  const placedIn = Map.groupBy(placed, ({ cloudService }) => cloudService);
  const rolesIn = Map.groupBy(instances, ({ deployment }) => deployment);
  return {
    proxy: opened.proxy,
    cloudServices: services.map(({ name: service, label, state, dnsName, publicAddress }) => ({
      ...{ name: service, label, state, dnsName, publicAddress },
      deployments: (placedIn.get(service) ?? []).map(({ name: own, slot }) => {
        // The name of a deployment contains that of its cloud service, so it is unique.
        const roles = rolesIn.get(own) ?? [];
        return { name: own, slot, covered: isCovered(roles), roles, endpoints: opened.of(service, own, slot) };
      }),
    })),
  };
}
