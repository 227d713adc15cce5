import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  customType,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import type { EndpointSource } from '#server/domain/topology-rules/endpoints.ts';
import type { ListenerFault } from '#server/domain/topology-rules/fabric.ts';
import type { DestructionWarning } from '#server/domain/topology-rules/models.ts';
import type {
  DeploymentSlot,
  ModelLife,
  PortProtocol,
  ResourceState,
  ServiceLabel,
} from '#server/domain/topology-rules/words.ts';
import { vms } from './vms.ts';

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
const time = (name: string) => timestamp(name, { withTimezone: true });
const created = { createdAt: time('created_at').notNull(), createdBy: text('created_by').notNull() };

/** Storage accounts. A model’s storage account must exist before the model’s bootstrap. */
export const storageAccounts = pgTable('storage_accounts', {
  name: text().primaryKey(),
  location: text().notNull(),
  ...created,
});

/** What a model keeps in its storage account. */
export const storageObjects = pgTable(
  'storage_objects',
  {
    account: text()
      .notNull()
      .references(() => storageAccounts.name),
    container: text().notNull(),
    name: text().notNull(),
    content: jsonb().$type<Record<string, unknown>>().notNull(),
    writtenAt: time('written_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.account, t.container, t.name] })],
);

/** Models: named sets of services with their machines. The row’s lock orders all changes to a model. */
export const models = pgTable(
  'models',
  {
    id: uuid().primaryKey(),
    name: text().notNull(),
    life: text().$type<ModelLife>().notNull(),
    location: text().notNull(),
    storageAccount: text('storage_account').notNull(),
    affinityGroup: text('affinity_group').notNull(),
    network: text().notNull(),
    availabilitySetsEnabled: boolean('availability_sets_enabled').notNull(),
    bootstrappedAt: time('bootstrapped_at'),
    /** Until when the running bootstrap may work. If the time passes before the end, the bootstrap is undone. */
    leaseUntil: time('lease_until'),
    /** The number of the next machine. Numbers are never used again. */
    machineCounter: integer('machine_counter').notNull().default(0),
    /** Increases with every change; the ETag of the model. */
    revision: integer().notNull().default(1),
    /** When the destruction began, and whether it waits for agents that uninstall extensions. */
    destroyingAt: time('destroying_at'),
    destroyingBy: text('destroying_by'),
    forced: boolean().notNull().default(false),
    /** What the destruction could not delete and left behind. */
    warnings: jsonb().$type<DestructionWarning[]>().notNull().default([]),
    removedAt: time('removed_at'),
    ...created,
  },
  (t) => [uniqueIndex('models_name').on(t.name).where(sql`${t.removedAt} is null`)],
);

/** Affinity groups. If `made_for` is null, the group existed before the model that uses it, and is never deleted. */
export const affinityGroups = pgTable('affinity_groups', {
  name: text().primaryKey(),
  location: text().notNull(),
  madeFor: uuid('made_for').references(() => models.id),
  ...created,
});

/** Networks, with `made_for` as for affinity groups. */
export const networks = pgTable('networks', {
  name: text().primaryKey(),
  cidr: text().notNull(),
  madeFor: uuid('made_for').references(() => models.id),
  /** Where the search for the next free address begins, counted from the network’s first address. */
  nextAddress: integer('next_address').notNull().default(0),
  ...created,
});

/** Cloud services. The row of a deleted one is kept, so that its name is never used again. */
export const cloudServices = pgTable(
  'cloud_services',
  {
    name: text().primaryKey(),
    modelId: uuid('model_id')
      .notNull()
      .references(() => models.id),
    label: text().$type<ServiceLabel>(),
    dnsName: text('dns_name'),
    publicAddress: text('public_address'),
    state: text().$type<ResourceState>().notNull(),
    /** Until when the request that creates it may work. */
    leaseUntil: time('lease_until'),
    /** From when the repair calls the provider about slots and endpoints; null if the provider confirmed them. */
    providerDueAt: time('provider_due_at'),
    /** The number of the next deployment. */
    nextDeployment: integer('next_deployment').notNull(),
    goneAt: time('gone_at'),
    ...created,
  },
  (t) => [
    index('cloud_services_model').on(t.modelId),
    uniqueIndex('cloud_services_dns').on(t.dnsName).where(sql`${t.goneAt} is null`),
    uniqueIndex('cloud_services_address').on(t.publicAddress).where(sql`${t.goneAt} is null`),
    index('cloud_services_due').on(t.providerDueAt).where(sql`${t.providerDueAt} is not null`),
    index('cloud_services_open').on(t.leaseUntil).where(sql`${t.goneAt} is null and ${t.state} <> 'ready'`),
  ],
);

/** Deployments of cloud services. A slot holds at most one. */
export const deployments = pgTable(
  'deployments',
  {
    cloudService: text('cloud_service')
      .notNull()
      .references(() => cloudServices.name),
    name: text().notNull(),
    slot: text().$type<DeploymentSlot>().notNull(),
    ...created,
  },
  (t) => [
    primaryKey({ columns: [t.cloudService, t.name] }),
    // Deferrable, so that one UPDATE can swap two deployments; drizzle cannot declare that, so the migration does.
    unique('deployments_slot').on(t.cloudService, t.slot),
  ],
);

/** The availability set of each cloud service. */
export const availabilitySets = pgTable('availability_sets', {
  cloudService: text('cloud_service')
    .primaryKey()
    .references(() => cloudServices.name),
  name: text().notNull(),
  ...created,
});

/** A disk of a role. */
export interface RoleDisk {
  name: string;
  sizeGib: number;
}

/** Roles. A role is a VM, and its instance is the VM’s agent. */
export const vmRoles = pgTable(
  'vm_roles',
  {
    vmId: uuid('vm_id')
      .primaryKey()
      .references(() => vms.id),
    modelId: uuid('model_id')
      .notNull()
      .references(() => models.id),
    cloudService: text('cloud_service')
      .notNull()
      .references(() => cloudServices.name),
    deployment: text().notNull(),
    name: text().notNull(),
    controller: boolean().notNull(),
    /** Whether the VM existed before the role. It is not deleted with the role, and keeps its extensions. */
    adopted: boolean().notNull().default(false),
    /** The availability set; null in a model without availability sets. */
    availabilitySet: text('availability_set'),
    /** The number of the machine in the model. */
    machine: integer().notNull(),
    hostname: text().notNull(),
    userName: text('user_name').notNull(),
    /** The first user’s password, encrypted with the portal’s key. */
    password: bytea().notNull(),
    size: text().notNull(),
    disks: jsonb().$type<RoleDisk[]>().notNull(),
    networkConfiguration: jsonb('network_configuration').$type<{ network: string }>().notNull(),
    assignedAddress: text('assigned_address'),
    state: text().$type<ResourceState>().notNull(),
    /** Until when the request that creates the role may work. Null for a role that is ready or being deleted. */
    leaseUntil: time('lease_until'),
    /** When the deletion began, and whether it deletes the VM without waiting for its agent. */
    deletingAt: time('deleting_at'),
    forced: boolean().notNull().default(false),
    ...created,
  },
  (t) => [
    uniqueIndex('vm_roles_name').on(t.cloudService, t.name),
    uniqueIndex('vm_roles_machine').on(t.modelId, t.machine),
    index('vm_roles_open').on(t.leaseUntil).where(sql`${t.state} <> 'ready'`),
  ],
);

/** Endpoints of roles: the ports that lead to them. `deployment` is the role’s, for the index. */
export const endpoints = pgTable(
  'endpoints',
  {
    vmId: uuid('vm_id')
      .notNull()
      .references(() => vmRoles.vmId),
    protocol: text().$type<PortProtocol>().notNull(),
    publicPort: integer('public_port').notNull(),
    cloudService: text('cloud_service').notNull(),
    deployment: text().notNull(),
    localPort: integer('local_port').notNull(),
    name: text().notNull(),
    /** The load-balancing set; null if only this role has the port. */
    setName: text('set_name'),
    source: text().$type<EndpointSource>().notNull(),
    ...created,
  },
  (t) => [
    primaryKey({ columns: [t.vmId, t.protocol, t.publicPort] }),
    uniqueIndex('endpoints_single')
      .on(t.cloudService, t.deployment, t.protocol, t.publicPort)
      .where(sql`${t.setName} is null`),
  ],
);

/** What the fabric’s proxy carried for each endpoint. The fabric adds to a row every few seconds, if there is news. */
export const endpointTraffic = pgTable(
  'endpoint_traffic',
  {
    vmId: uuid('vm_id').notNull(),
    protocol: text().$type<PortProtocol>().notNull(),
    publicPort: integer('public_port').notNull(),
    /** Connections since the port was opened; for UDP, clients. */
    connections: bigint({ mode: 'number' }).notNull(),
    /** Bytes in both directions. */
    bytes: bigint({ mode: 'number' }).notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.vmId, t.protocol, t.publicPort] }),
    foreignKey({
      columns: [t.vmId, t.protocol, t.publicPort],
      foreignColumns: [endpoints.vmId, endpoints.protocol, endpoints.publicPort],
      name: 'endpoint_traffic_endpoint',
    }).onDelete('cascade'),
  ],
);

/** The state of the fabric’s proxy, in one row. */
export const fabricState = pgTable('fabric_state', {
  id: integer().primaryKey(),
  seenAt: time('seen_at').notNull(),
  /** Public ports on which the proxy cannot listen, with the reasons. */
  faults: jsonb().$type<ListenerFault[]>().notNull(),
});
