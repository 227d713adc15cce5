import { sql } from 'drizzle-orm';
import {
  bigint,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import type { NodeDelta, SealedSettings } from '#server/domain/service-rules/stored.ts';
import type { Life, ParticipantState, RelationEventKind, Side } from '#server/domain/service-rules/words.ts';
import { services, units } from './services.ts';
import { models } from './topology.ts';

const time = (name: string) => timestamp(name, { withTimezone: true });

/** Relations between services. The row's lock orders everything in the relation, and `clock` numbers it. */
export const relations = pgTable(
  'relations',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    modelId: uuid('model_id')
      .notNull()
      .references(() => models.id),
    /** The number of the relation in its model, from 1. Numbers are never used again. */
    number: integer().notNull(),
    interface: text().notNull(),
    life: text().$type<Life>().notNull(),
    /** Increases with every join, change and departure. */
    clock: bigint({ mode: 'number' }).notNull().default(0),
    /** When the clock last increased. Gateways use it to find changes that they may have missed. */
    movedAt: time('moved_at').notNull(),
    dyingAt: time('dying_at'),
    removedAt: time('removed_at'),
    createdAt: time('created_at').notNull(),
    createdBy: text('created_by').notNull(),
  },
  (t) => [
    uniqueIndex('relations_number').on(t.modelId, t.number),
    index('relations_moved').on(t.movedAt),
    index('relations_open').on(t.modelId).where(sql`${t.removedAt} is null`),
  ],
);

/** The services of a relation: one per side, and one only for a `peers` relation. */
export const relationEndpoints = pgTable(
  'relation_endpoints',
  {
    relationId: bigint('relation_id', { mode: 'number' })
      .notNull()
      .references(() => relations.id),
    side: text().$type<Side>().notNull(),
    serviceId: uuid('service_id')
      .notNull()
      .references(() => services.id),
    /** The name of the relation in the service's formula. */
    name: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.relationId, t.side] }), index('relation_endpoints_service').on(t.serviceId)],
);

/** The units that take or took part in a relation, each with its node: its settings in this relation. */
export const relationUnits = pgTable(
  'relation_units',
  {
    relationId: bigint('relation_id', { mode: 'number' })
      .notNull()
      .references(() => relations.id),
    unitId: uuid('unit_id')
      .notNull()
      .references(() => units.id),
    side: text().$type<Side>().notNull(),
    state: text().$type<ParticipantState>().notNull(),
    version: integer().notNull(),
    /** The relation's clock when the unit joined, last changed its node, or left. */
    clock: bigint({ mode: 'number' }).notNull(),
    /** The relation's clock when a swap last moved the unit into or out of the relation; 0 if none did. */
    movedClock: bigint('moved_clock', { mode: 'number' }).notNull().default(0),
    settings: jsonb().$type<SealedSettings>().notNull(),
    /** The run that last wrote the node; null if none did. */
    writtenRun: uuid('written_run'),
    writtenAt: time('written_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.relationId, t.unitId] }),
    index('relation_units_unit').on(t.unitId),
    index('relation_units_clock').on(t.relationId, t.side, t.clock),
  ],
);

/** What happened in a relation: one row per value of its clock. */
export const relationLog = pgTable(
  'relation_log',
  {
    relationId: bigint('relation_id', { mode: 'number' })
      .notNull()
      .references(() => relations.id),
    clock: bigint({ mode: 'number' }).notNull(),
    unitId: uuid('unit_id')
      .notNull()
      .references(() => units.id),
    kind: text().$type<RelationEventKind>().notNull(),
    /** The version of the unit's node after the event. */
    version: integer().notNull(),
    delta: jsonb().$type<NodeDelta>().notNull(),
    /** The run that caused the event, with its VM; null if none did. */
    runVm: uuid('run_vm'),
    runId: uuid('run_id'),
    at: time('at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.relationId, t.clock] }),
    index('relation_log_at').on(t.at),
    index('relation_log_version').on(t.relationId, t.unitId, t.version),
  ],
);

/** Which version of another unit's node a unit has confirmed in a relation. */
export const relationSeen = pgTable(
  'relation_seen',
  {
    relationId: bigint('relation_id', { mode: 'number' })
      .notNull()
      .references(() => relations.id),
    unitId: uuid('unit_id')
      .notNull()
      .references(() => units.id),
    remoteUnitId: uuid('remote_unit_id')
      .notNull()
      .references(() => units.id),
    /** Null after `joined` and before the first `changed`. */
    version: integer(),
    at: time('at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.relationId, t.unitId, t.remoteUnitId] })],
);
