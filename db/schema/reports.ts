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
 * What was last reported about each extension, without the documents. Reports are compared only with this row, and an
 * unchanged heartbeat updates nothing else. The row is deleted with the extension, so that a later extension with the
 * same name starts empty. Verdicts are not stored; they are evaluated when they are read.
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
    /** When the agent read the file, by the portal's clock. */
    heartbeatReadAt: timestamp('heartbeat_read_at', { withTimezone: true }),
    /** Age of the file when the agent read it, in seconds. */
    heartbeatAgeSeconds: doublePrecision('heartbeat_age_seconds'),
    statusHash: uuid('status_hash'),
    statusSequence: bigint('status_sequence', { mode: 'number' }),
    statusWord: text('status_word').$type<StatusWord>(),
    statusReadAt: timestamp('status_read_at', { withTimezone: true }),
    statusAgeSeconds: doublePrecision('status_age_seconds'),
    /** When the first success or error for `statusSequence` was reported. It concludes the operation permanently. */
    concludedAt: timestamp('concluded_at', { withTimezone: true }),
    concludedWith: text('concluded_with').$type<'success' | 'error'>(),
  },
  ofExtension,
);

/** An invalid file of a handler, with its first faults and their paths in the file. */
export interface RefusedFile {
  /** The status's sequence number; null for a heartbeat. */
  sequenceNumber: number | null;
  /**
   * When the agent read the file, by the portal's clock (ISO 8601). A valid file that was read later is shown instead.
   */
  readAt: string;
  faults: { path: string; code: ProtocolFaultCode; params?: Record<string, string | number> }[];
}

/**
 * The documents that were last reported about each extension. Pages show them. Stored as `json`, the type that slows
 * down reports the least.
 */
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

/**
 * Problems that agents reported. Only the last problem about each subject is kept, and their number is limited per VM.
 */
export const agentProblems = pgTable(
  'agent_problems',
  {
    vmId: uuid('vm_id')
      .notNull()
      .references(() => vms.id),
    /** Name of an extension, `goal-state` or `restart`. */
    about: text().notNull(),
    message: text().notNull(),
    /** The file that could not be read; null if the problem is not about a file or if the file is unknown. */
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
  /** When the restart was requested, by the portal's clock (ISO 8601). */
  since: string;
  /** Whether the agent restarts the machine itself; absent if the agent did not report it. */
  byAgent?: boolean;
}

/**
 * VMs whose agent reports that a restart is pending. The row is deleted when the agent reports that no restart is
 * pending.
 */
export const pendingRestarts = pgTable('pending_restarts', {
  vmId: uuid('vm_id')
    .primaryKey()
    .references(() => vms.id),
  /** Time of the oldest pending request. */
  since: timestamp({ withTimezone: true }).notNull(),
  requests: json().$type<RestartRequest[]>().notNull(),
});

/**
 * The history of reports. Partitioned by the day of `at`, so that old days are dropped as a whole. This schema cannot
 * express partitions; they are in partitions.ts. No foreign key: VM rows are never deleted, and a foreign key would
 * lock `vms` whenever a partition is created or dropped. Only one index besides the primary key, because each index
 * slows down every report.
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
    /** Whether the document was shown when it arrived. If not, it was only stored. */
    current: boolean().notNull(),
    /** The document as the agent sent it. SQL does not read its contents. */
    document: json().$type<Record<string, unknown>>().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.vmId, t.at, t.id] }),
    // Used by the worker, which continues where it stopped. A BRIN index does not slow down inserts.
    index('report_history_id').using('brin', t.id).with({ autosummarize: true }),
  ],
);
