import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  customType,
  foreignKey,
  index,
  integer,
  json,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import type { FailingHooks, Resolution, SkippedHook, StoredUnitRecord } from '#server/domain/service-rules/stored.ts';
import type { Life } from '#server/domain/service-rules/words.ts';
import type { PortProtocol } from '#server/domain/topology-rules/words.ts';
import { handlerVersions } from './packages.ts';
import { models } from './topology.ts';
import { vms } from './vms.ts';

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
const time = (name: string) => timestamp(name, { withTimezone: true });
const created = { createdAt: time('created_at').notNull(), createdBy: text('created_by').notNull() };

/** Services of models. The row of a removed service is kept for its history. */
export const services = pgTable(
  'services',
  {
    id: uuid().primaryKey(),
    modelId: uuid('model_id')
      .notNull()
      .references(() => models.id),
    name: text().notNull(),
    life: text().$type<Life>().notNull(),
    formula: text().notNull(),
    /** The formula's version that the units get. During an upgrade, units have different versions. */
    formulaVersion: text('formula_version').notNull(),
    settingsVersion: integer('settings_version').notNull(),
    /** The versions that units in Staging get; null if they get those of the service. */
    stagedVersion: text('staged_version'),
    stagedSettingsVersion: integer('staged_settings_version'),
    exposed: boolean().notNull(),
    /** How many units may change their formula or their settings at the same time; null for all. */
    atOnceUpgrade: integer('at_once_upgrade').default(1),
    atOnceConfigure: integer('at_once_configure').default(1),
    /** Time limits of hooks in seconds, instead of the formula's. */
    timeouts: jsonb().$type<Record<string, number>>().notNull().default({}),
    /** When the removal began. */
    dyingAt: time('dying_at'),
    removedAt: time('removed_at'),
    ...created,
  },
  (t) => [
    uniqueIndex('services_name').on(t.modelId, t.name).where(sql`${t.removedAt} is null`),
    index('services_formula').on(t.formula, t.formulaVersion),
    foreignKey({
      columns: [t.formula, t.formulaVersion],
      foreignColumns: [handlerVersions.handler, handlerVersions.version],
      name: 'services_formula_version',
    }),
  ],
);

/** The settings of a service, by version. Rows are never changed. */
export const serviceSettings = pgTable(
  'service_settings',
  {
    serviceId: uuid('service_id')
      .notNull()
      .references(() => services.id),
    version: integer().notNull(),
    /** What the operator set. */
    given: json().$type<Record<string, unknown>>().notNull(),
    /** The same with the defaults of the formula's schema under it. */
    effective: json().$type<Record<string, unknown>>().notNull(),
    /** The formula's version whose schema gave the defaults. */
    formulaVersion: text('formula_version').notNull(),
    /** The protected settings, encrypted with the portal's key; null if there are none. */
    secret: bytea(),
    /** A keyed and salted digest of the protected settings, so it shows only whether they changed. */
    secretFingerprint: text('secret_fingerprint'),
    /** `Principal.key` of the actor who entered the protected settings. */
    secretSetBy: text('secret_set_by'),
    changedAt: time('changed_at').notNull(),
    changedBy: text('changed_by').notNull(),
  },
  (t) => [primaryKey({ columns: [t.serviceId, t.version] })],
);

/** The number of the next unit of each service. Kept after the service is removed, so numbers are never used again. */
export const unitCounters = pgTable(
  'unit_counters',
  {
    modelId: uuid('model_id')
      .notNull()
      .references(() => models.id),
    serviceName: text('service_name').notNull(),
    next: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.modelId, t.serviceName] })],
);

/** Units: running members of services. The row of a removed unit is kept for its history. */
export const units = pgTable(
  'units',
  {
    id: uuid().primaryKey(),
    modelId: uuid('model_id')
      .notNull()
      .references(() => models.id),
    serviceId: uuid('service_id')
      .notNull()
      .references(() => services.id),
    /** `<service>/<number>`. */
    name: text().notNull(),
    number: integer().notNull(),
    vmId: uuid('vm_id')
      .notNull()
      .references(() => vms.id),
    life: text().$type<Life>().notNull(),
    /** The unit's place in the order of the VM's work: the turn of the last act on it. */
    turn: bigint({ mode: 'number' }).notNull(),
    /** The versions that the unit should have. */
    formulaVersion: text('formula_version').notNull(),
    settingsVersion: integer('settings_version').notNull(),
    /** The number of the unit's last run. */
    runCounter: integer('run_counter').notNull().default(0),
    record: jsonb().$type<StoredUnitRecord>().notNull(),
    failing: jsonb().$type<FailingHooks>().notNull().default({}),
    skipped: jsonb().$type<SkippedHook[]>().notNull().default([]),
    /** Decisions about hooks that fail, the latest last. */
    resolutions: jsonb().$type<Resolution[]>().notNull().default([]),
    /** When an agent first fetched the unit; null before. */
    agentSince: time('agent_since'),
    /** The enrollment time of the machine that has the unit. A machine that enrolls later does not have it. */
    machineEnrolledAt: time('machine_enrolled_at'),
    /** The enrollment time of the machine to which an admin released the protected settings of the service. */
    releasedMachineAt: time('released_machine_at'),
    /** When the unit's `start` first ended with 0, and it entered its relations. */
    enteredAt: time('entered_at'),
    dyingAt: time('dying_at'),
    removedAt: time('removed_at'),
    /** Whether the unit was removed without its agent. Everything on the machine is left as it is. */
    forced: boolean().notNull().default(false),
    ...created,
  },
  (t) => [
    uniqueIndex('units_name').on(t.modelId, t.name),
    index('units_service').on(t.serviceId, t.number),
    index('units_vm').on(t.vmId).where(sql`${t.removedAt} is null`),
    index('units_failing').on(t.modelId).where(sql`${t.failing} <> '{}'::jsonb`),
  ],
);

/**
 * The revision of each VM's units: what operators, or a unit's own life, changed. It does not count changes of
 * relations, which have clocks.
 */
export const unitHeads = pgTable(
  'unit_heads',
  {
    vmId: uuid('vm_id')
      .primaryKey()
      .references(() => vms.id),
    revision: bigint({ mode: 'number' }).notNull(),
    /** When the revision last increased. Gateways use it to find changes that they may have missed. */
    movedAt: time('moved_at').notNull(),
  },
  (t) => [index('unit_heads_moved').on(t.movedAt)],
);

/** Ports that hooks opened. The endpoints of the unit's role follow in the same transaction. */
export const unitPorts = pgTable(
  'unit_ports',
  {
    unitId: uuid('unit_id')
      .notNull()
      .references(() => units.id),
    protocol: text().$type<PortProtocol>().notNull(),
    port: integer().notNull(),
    /** The run that opened the port. */
    openedRun: uuid('opened_run').notNull(),
    openedAt: time('opened_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.unitId, t.protocol, t.port] })],
);
