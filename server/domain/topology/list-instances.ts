import { and, eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import { agents, cloudServices, vmRoles, vms } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { findRole, formatInstanceId, listInOrder } from '#server/domain/topology-rules/instance-ids.ts';
import { resourceStates } from '#server/domain/topology-rules/words.ts';
import { vmId } from '#server/domain/vms/input.ts';
import { type ListInstancesInput, listInstancesInput } from './input.ts';
import { readModel } from './model-rows.ts';

/** A role instance as the API returns it. */
export const instance = z
  .object({
    id: z.string(),
    machine: count.describe('The number of the machine in its model.'),
    vmId,
    vm: z.string().describe('The name of the VM.'),
    hostname: z.string(),
    cloudService: z.string(),
    deployment: z.string(),
    role: z.string(),
    controller: z.boolean(),
    availabilitySet: z.string().nullable(),
    state: z.enum(resourceStates),
    assignedAddress: z.string().nullable().describe('The internal address that the provider assigned.'),
    internalAddress: z
      .string()
      .nullable()
      .describe('The internal address that the agent reported; null before it enrolls.'),
    publicAddress: z.string().nullable().describe('The public address of the cloud service.'),
    dnsName: z.string().nullable(),
  })
  .meta({ id: 'RoleInstance' });
export type RoleInstance = z.infer<typeof instance>;

/** Instances in the requested order. */
export const instances = z.object({ instances: z.array(instance.nullable()), partial: z.boolean() });

/**
 * Returns instances of a model in the requested order. Ids without an instance have null in their places, and the
 * result is partial. Throws 404 `model_unknown`, and `no_instances` if none is found; 409 `legacy_instance_ambiguous`.
 */
export async function listInstances(ctx: Context, input: ListInstancesInput): Promise<z.infer<typeof instances>> {
  allow(ctx.actor, 'viewer');
  const { model: name, ids } = parse(listInstancesInput, input);
  const model = await readModel(ctx.db, name);
  const all = await readInstances(ctx, model.id, ids.flatMap(servicesIn));
  const byId = new Map(all.map((one) => [one.id, one]));
  const rolesOf = Map.groupBy(all, ({ cloudService }) => cloudService);
  const listed = listInOrder(ids, (id) => {
    const found = findRole(name, id, (service) => rolesOf.get(service)?.map(({ role }) => role) ?? []);
    if ('ref' in found) return byId.get(formatInstanceId(found.ref)) ?? null;
    if (found.refusal === 'instance_unknown') return null;
    throw new DomainError('conflict', found.refusal, { params: found.params });
  });
  if ('refusal' in listed) throw new DomainError('not_found', listed.refusal);
  return listed;
}

/** Returns the cloud services that an instance id may name. An id of the older form is the cloud service. */
const servicesIn = (id: string): string[] => [id, id.slice(0, Math.max(0, id.lastIndexOf('-')))];

/** Reads the instances of a model by machine, all of them or those in cloud services with these names. */
export async function readInstances(
  { db }: Pick<Context, 'db'>,
  modelId: string,
  services: readonly string[] | null = null,
): Promise<RoleInstance[]> {
  const rows = await db
    .select({
      ...{ role: vmRoles, vm: vms.name, internalAddress: agents.internalAddress },
      ...{ publicAddress: cloudServices.publicAddress, dnsName: cloudServices.dnsName },
    })
    .from(vmRoles)
    .innerJoin(vms, eq(vms.id, vmRoles.vmId))
    .innerJoin(cloudServices, eq(cloudServices.name, vmRoles.cloudService))
    .leftJoin(agents, eq(agents.vmId, vmRoles.vmId))
    .where(
      and(
        eq(vmRoles.modelId, modelId),
        services === null ? undefined : sql`${vmRoles.cloudService} = any(${sql.param(services)}::text[])`,
      ),
    )
    .orderBy(vmRoles.machine);
  return rows.map(({ role, vm, internalAddress, publicAddress, dnsName }) => {
    const { machine, vmId, hostname, cloudService, deployment, controller, availabilitySet, state, assignedAddress } =
      role;
    const id = formatInstanceId({ service: cloudService, role: role.name });
    return {
      ...{ id, machine, vmId, vm, hostname, cloudService, deployment, role: role.name, controller, availabilitySet },
      ...{ state, assignedAddress, internalAddress, publicAddress, dnsName },
    };
  });
}
