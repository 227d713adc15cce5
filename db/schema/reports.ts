import {
  type AnyPgColumn,
  bigint,
  bigserial,
  boolean,
  doublePrecision,
  foreignKey,
  index,
  json,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core';
import type {
  HandlerReport,
  HeartbeatDocument,
  ProtocolFaultCode,
  StatusDocument,
  StatusWord,
} from '#protocol/index.ts';
import { extensions } from './goal-states.ts';
import { vms } from './vms.ts';

const ofExtension = (t: { vmId: AnyPgColumn; name: AnyPgColumn }) => [
  primaryKey({ columns: [t.vmId, t.name] }),
  foreignKey({ columns: [t.vmId, t.name], foreignColumns: [extensions.vmId, extensions.name] }).onDelete('cascade'),
];

/**
 * What was last reported of each extension, without its documents: reports are compared with this row alone, and an
 * unchanged heartbeat rewrites nothing else. Deleted with the extension, so that a later one of that name starts empty.
 * Verdicts are not stored, but evaluated when they are read.
 */
export const extensionPulse = pgTable(
  'extension_pulse',
  {
    vmId: uuid('vm_id').notNull(),
    name: text().notNull(),
    handlerSequence: bigint('handler_sequence', { mode: 'number' }),
    /** Fingerprints of the documents in `extension_latest`. */
    handlerHash: uuid('handler_hash'),
    heartbeatHash: uuid('heartbeat_hash'),
    heartbeatStatus: text('heartbeat_status').$type<HeartbeatDocument['status']>(),
    /** When the agent read the file, on the portal's clock. */
    heartbeatReadAt: timestamp('heartbeat_read_at', { withTimezone: true }),
    /** How old the file was then. */
    heartbeatAgeSeconds: doublePrecision('heartbeat_age_seconds'),
    statusHash: uuid('status_hash'),
    statusSequence: bigint('status_sequence', { mode: 'number' }),
    statusWord: text('status_word').$type<StatusWord>(),
    statusReadAt: timestamp('status_read_at', { withTimezone: true }),
    statusAgeSeconds: doublePrecision('status_age_seconds'),
    /** The first success or error of `statusSequence`: it concludes the operation for good. */
    concludedAt: timestamp('concluded_at', { withTimezone: true }),
    concludedWith: text('concluded_with').$type<'success' | 'error'>(),
  },
  ofExtension,
);

/** A file of a handler that broke the contract: the first of its faults, by their paths within the file. */
export interface RefusedFile {
  /** Of a status. */
  sequenceNumber: number | null;
  /** When the agent read it, ISO 8601 on the portal's clock: a valid one that was read later is shown instead. */
  readAt: string;
  faults: { path: string; code: ProtocolFaultCode; params?: Record<string, string | number> }[];
}

/** The documents that were last reported of each extension and are shown; as text, which is the cheapest for reports. */
export const extensionLatest = pgTable(
  'extension_latest',
  {
    vmId: uuid('vm_id').notNull(),
    name: text().notNull(),
    handlerState: json('handler_state').$type<HandlerReport>(),
    handlerAt: timestamp('handler_at', { withTimezone: true }),
    heartbeat: json().$type<HeartbeatDocument>(),
    status: json().$type<StatusDocument>(),
    heartbeatRefused: json('heartbeat_refused').$type<RefusedFile>(),
    statusRefused: json('status_refused').$type<RefusedFile>(),
  },
  ofExtension,
);

/** Problems that agents reported, the latest about each subject. Bounded per VM. */
export const agentProblems = pgTable(
  'agent_problems',
  {
    vmId: uuid('vm_id')
      .notNull()
      .references(() => vms.id),
    /** An extension's name, or `goal-state`. */
    about: text().notNull(),
    message: text().notNull(),
    /** The handler's unreadable file; null if it is about something else, or unknown. */
    file: text().$type<'status' | 'heartbeat'>(),
    at: timestamp({ withTimezone: true }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.vmId, t.about] })],
);

/** A handler version whose install requires a restart of the machine. */
export interface RestartRequest {
  handler: string;
  version: string;
  extensions: string[];
  /** ISO 8601, on the portal's clock. */
  since: string;
}

/** VMs whose agent reports that a restart is pending. The row is deleted when the agent reports none. */
export const pendingRestarts = pgTable('pending_restarts', {
  vmId: uuid('vm_id')
    .primaryKey()
    .references(() => vms.id),
  /** The oldest of the requests. */
  since: timestamp({ withTimezone: true }).notNull(),
  requests: json().$type<RestartRequest[]>().notNull(),
});

/**
 * Everything that was reported and stored, newest last. Partitioned by the day of `at` (partitions.ts), which the schema
 * cannot express: old days are dropped as a whole. No foreign key: VM rows are never deleted, and a foreign key would lock
 * `vms` whenever a partition is created or dropped. Only one index besides the primary key, because each one slows down
 * every report.
 */
export const reportHistory = pgTable(
  'report_history',
  {
    vmId: uuid('vm_id').notNull(),
    id: bigserial({ mode: 'number' }).notNull(),
    at: timestamp({ withTimezone: true }).notNull(),
    kind: text().$type<'handler' | 'heartbeat' | 'status'>().notNull(),
    extension: text().notNull(),
    sequenceNumber: bigint('sequence_number', { mode: 'number' }),
    /** Whether it was shown when it arrived, or only kept. */
    current: boolean().notNull(),
    /** As it was sent; SQL does not read its contents. */
    document: json().$type<Record<string, unknown>>().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.vmId, t.at, t.id] }),
    // For the worker, which continues where it stopped. This kind of index costs inserts nothing.
    index('report_history_id').using('brin', t.id).with({ autosummarize: true }),
  ],
);
