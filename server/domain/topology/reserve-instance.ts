import { randomInt } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { availabilitySets, cloudServices, deployments, endpoints, vmRoles, vms } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { type Enrollment, registerVmIn } from '#server/domain/enrollment/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { initialEndpoints, type RoleEndpoint } from '#server/domain/topology-rules/endpoints.ts';
import { formatInstanceId } from '#server/domain/topology-rules/instance-ids.ts';
import {
  availabilitySetName,
  deploymentName,
  drawName,
  firstDeployment,
  machineName,
  maxDraws,
} from '#server/domain/topology-rules/names.ts';
import {
  type Placement,
  type PlacementRefusal,
  type PlacementRequest,
  place,
} from '#server/domain/topology-rules/place.ts';
import type { DeploymentSlot } from '#server/domain/topology-rules/words.ts';
import { setInstanceId } from '#server/domain/vms/index.ts';
import { leaseOf } from './lease.ts';
import { lockModelById, type ModelRow, readInventory, requireAlive, updateModel } from './model-rows.ts';
import { newPassword, sealPassword } from './role-password.ts';

/** What an instance is for. */
export type InstanceKind = 'machine' | 'controller' | 'unit';

/** What is to run on a new instance. Services are a later module, so they pass it. */
export interface InstanceUse {
  /** Reads the distribution group (`distributionGroup`). The model is locked. */
  groupOf(tx: Transaction, model: ModelRow): Promise<string[]>;
  /** Stores what runs on the instance, in the transaction that reserves it. */
  store(tx: Transaction, reserved: Omit<Reservation, 'drawsLeft'>): Promise<void>;
}

/** What a request needs: the kind of the instance, and how many leases the request has. */
export type InstanceRequest = {
  /** A bootstrap creates several instances, one after the other, so each has the lease of the bootstrap. */
  leases?: number;
  /** The slot of the deployment; Production by default. */
  slot?: DeploymentSlot | undefined;
  /** The number of the machine, which is at least that of the next one. Numbers in between are never used. */
  machine?: number;
} & ({ kind: 'machine'; adopts?: AdoptedVm } | { kind: 'controller' } | { kind: 'unit'; use: InstanceUse });

/** A VM that becomes a machine. */
export interface AdoptedVm {
  id: string;
  name: string;
}

/** An instance in the inventory, before the provider creates it. */
export interface Reservation {
  /** The VM. It has no token if it is enrolled already. */
  vm: Enrollment | (AdoptedVm & { enrollmentToken: null });
  role: typeof vmRoles.$inferSelect;
  instanceId: string;
  password: string;
  endpoints: readonly RoleEndpoint[];
  drawsLeft: number;
}

const draw = (): string => drawName(randomInt);

/**
 * Places an instance and stores its cloud service, role and VM as being created. Concurrent requests for one model wait
 * for each other, so that placement always sees what the others reserved.
 */
export const reserveInstance = (
  ctx: Context,
  modelId: string,
  asked: InstanceRequest,
  draws: number,
): Promise<Reservation> => ctx.db.transaction((tx) => reserveInstanceIn(tx, ctx, modelId, asked, draws));

/** Reserves an instance in the caller’s transaction, as `reserveInstance` does. */
export async function reserveInstanceIn(
  tx: Transaction,
  ctx: Context,
  modelId: string,
  asked: InstanceRequest,
  draws = maxDraws,
): Promise<Reservation> {
  const model = await lockModelById(tx, modelId);
  requireAlive(model);
  if (model.bootstrappedAt === null && model.leaseUntil === null)
    throw new DomainError('conflict', 'model_not_bootstrapped');
  const { controllers, ...inventory } = await readInventory(tx, model);
  const request = await placementOf(tx, model, asked, controllers);
  const placed = requirePlace(place(inventory, request, draw, draws));
  const machine = asked.machine ?? model.machineCounter;
  if (machine < model.machineCounter) throw new Error(`machine ${machine} existed before`);
  const adopts = asked.kind === 'machine' ? asked.adopts : undefined;
  const { kind, slot = 'production' } = asked;
  if (slot === 'staging' && !model.availabilitySetsEnabled) throw new DomainError('conflict', 'staging_unsupported');
  const lease = { kind, slot, machine, adopts, leaseUntil: leaseOf(ctx.now, asked.leases) };
  if (placed.isNewService) await insertService(tx, ctx, model, placed.service, lease);
  const reserved = await insertRole(tx, ctx, model, lease, placed);
  if (asked.kind === 'unit') await asked.use.store(tx, reserved);
  return reserved;
}

async function placementOf(
  tx: Transaction,
  model: ModelRow,
  asked: InstanceRequest,
  controllers: readonly string[],
): Promise<PlacementRequest> {
  if (asked.kind === 'machine') return { for: 'machine' };
  return { for: asked.kind, group: asked.kind === 'unit' ? await asked.use.groupOf(tx, model) : controllers };
}

function requirePlace(placed: Placement | PlacementRefusal): Extract<Placement, { kind: 'role' }> {
  if ('refusal' in placed) {
    const isUnavailable = placed.refusal.endsWith('_exhausted');
    throw new DomainError(isUnavailable ? 'unavailable' : 'conflict', placed.refusal);
  }
  if (placed.kind !== 'role') throw new Error('a new instance cannot be on a machine that exists');
  return placed;
}

interface Lease {
  kind: InstanceKind;
  slot: DeploymentSlot;
  machine: number;
  adopts: AdoptedVm | undefined;
  leaseUntil: Date;
}

async function insertService(
  tx: Transaction,
  ctx: Context,
  model: ModelRow,
  name: string,
  { kind, slot, leaseUntil }: Lease,
): Promise<void> {
  const created = { createdAt: ctx.now, createdBy: ctx.actor.name };
  await tx.insert(cloudServices).values({
    ...{ name, modelId: model.id, label: kind === 'controller' ? ('controller' as const) : null },
    ...{ state: 'creating', leaseUntil, nextDeployment: firstDeployment + 1 },
    ...created,
  });
  const deployment = deploymentName(name, firstDeployment);
  await tx.insert(deployments).values({ cloudService: name, name: deployment, slot, ...created });
  if (!model.availabilitySetsEnabled) return;
  await tx.insert(availabilitySets).values({ cloudService: name, name: availabilitySetName, ...created });
}

async function insertRole(
  tx: Transaction,
  ctx: Context,
  model: ModelRow,
  { kind, slot, machine, adopts, leaseUntil }: Lease,
  { service, role: name, drawsLeft }: Extract<Placement, { kind: 'role' }>,
): Promise<Reservation> {
  const instanceId = formatInstanceId({ service, role: name });
  const availabilitySet = model.availabilitySetsEnabled ? availabilitySetName : null;
  const disruptionGroup = availabilitySet === null ? null : `${service}/${availabilitySet}`;
  const vm =
    adopts === undefined
      ? await registerVmIn(tx, ctx, {
          name: await freeVmName(tx, machineName(model.name, machine), instanceId),
          ...{ tags: {}, instanceId, disruptionGroup },
        })
      : { ...adopts, enrollmentToken: null };
  if (adopts !== undefined) await setInstanceId(tx, adopts.id, instanceId);
  const password = newPassword();
  const isController = kind === 'controller';
  const created = { createdAt: ctx.now, createdBy: ctx.actor.name };
  const deployment = await deploymentIn(tx, service, slot, created);
  const [role] = await tx
    .insert(vmRoles)
    .values({
      ...{ vmId: vm.id, modelId: model.id, cloudService: service, deployment, name, machine },
      ...{
        controller: isController,
        adopted: adopts !== undefined,
        availabilitySet,
        hostname: machineName(model.name, machine),
        userName: 'annex',
      },
      ...{ password: sealPassword(ctx.keys, vm.id, password), size: 'default', disks: [{ name: 'os', sizeGib: 30 }] },
      ...{ networkConfiguration: { network: model.network }, state: 'creating', leaseUntil },
      ...created,
    })
    .returning();
  if (role === undefined) throw new Error('the role was not stored');
  const initial = initialEndpoints(name, { isController, isBalanced: model.availabilitySetsEnabled });
  const { cloudService } = role;
  const rows = initial.map(({ role: _, set: setName, ...rest }) => ({
    vmId: vm.id,
    cloudService,
    deployment,
    setName,
    ...rest,
    ...created,
  }));
  await tx.insert(endpoints).values(rows);
  await updateModel(tx, model, { machineCounter: machine + 1 });
  return { vm, role, instanceId, password, endpoints: initial, drawsLeft };
}

/** A VM has the name of its machine, or its instance id if another VM has this name. */
async function freeVmName(tx: Transaction, name: string, instanceId: string): Promise<string> {
  const { rows } = await tx.execute(sql`select 1 from ${vms} where name = ${name} and deleted_at is null`);
  return rows.length === 0 ? name : instanceId;
}

/** Returns the deployment in a slot. Staging is filled when it is empty; Production is filled only with the service. */
async function deploymentIn(
  tx: Transaction,
  service: string,
  slot: DeploymentSlot,
  created: { createdAt: Date; createdBy: string },
): Promise<string> {
  const rows = await tx.select().from(deployments).where(eq(deployments.cloudService, service));
  const present = rows.find((row) => row.slot === slot);
  if (present !== undefined) return present.name;
  if (slot === 'production') throw new DomainError('conflict', 'production_empty', { params: { service } });
  const [counter] = await tx
    .update(cloudServices)
    .set({ nextDeployment: sql`${cloudServices.nextDeployment} + 1` })
    .where(eq(cloudServices.name, service))
    .returning({ next: cloudServices.nextDeployment });
  if (counter === undefined) throw new Error(`there is no cloud service ${service}`);
  const name = deploymentName(service, counter.next - 1);
  await tx.insert(deployments).values({ cloudService: service, name, slot, ...created });
  return name;
}
