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
import { vms } from './vms.ts';

/** One-time tokens by which a machine becomes the agent of a VM. */
export const enrollmentTokens = pgTable(
  'enrollment_tokens',
  {
    vmId: uuid('vm_id')
      .notNull()
      .references(() => vms.id),
    tokenHash: text('token_hash').notNull(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
    /** The actor who issued it, as `kind:id`, and their name at the time. Null: unknown, so not an admin. */
    issuedBy: text('issued_by'),
    issuedByName: text('issued_by_name'),
    expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
    voidedAt: timestamp('voided_at', { withTimezone: true }),
    usedAt: timestamp('used_at', { withTimezone: true }),
    /** SHA-256 of the public key that used it: the same key may repeat the call within 10 minutes. */
    usedKey: text('used_key'),
  },
  (t) => [primaryKey({ columns: [t.vmId, t.tokenHash] }), index('enrollment_tokens_hash').on(t.tokenHash)],
);

export interface AgentOs {
  name?: string;
  version?: string;
  arch?: string;
}

/** The machine of a VM. */
export const agents = pgTable(
  'agents',
  {
    vmId: uuid('vm_id')
      .primaryKey()
      .references(() => vms.id),
    credentialHash: text('credential_hash').notNull(),
    /** PEM */
    certificate: text().notNull(),
    /** SHA-1 of the DER, upper-case hex. */
    thumbprint: text().notNull(),
    /** SHA-256 of the public key: a key serves one VM only. */
    keyHash: text('key_hash').notNull(),
    /** One that enrolled by `/agent/v1`, or the stock Azure Linux agent behind its forwarder. */
    kind: text().$type<'reference' | 'stock'>().notNull().default('reference'),
    name: text().notNull(),
    version: text().notNull(),
    os: jsonb().$type<AgentOs>().notNull(),
    enrolledAt: timestamp('enrolled_at', { withTimezone: true }).notNull(),
    /** Name of the actor who issued the enrolment token. Null: unknown, or a stock agent. */
    enrolledBy: text('enrolled_by'),
    /** `Annex-Agent` of the first machine with this credential. */
    instanceId: text('instance_id'),
    /** When a second machine with the same identity was rejected. */
    duplicateSeenAt: timestamp('duplicate_seen_at', { withTimezone: true }),
  },
  (t) => [
    uniqueIndex('agents_credential').on(t.credentialHash),
    uniqueIndex('agents_key').on(t.keyHash),
    index('agents_enrolled').on(t.enrolledAt),
  ],
);

/** Calls of an agent that the portal rejected, the last one of each kind: shown on the VM's page. */
export const agentRefusals = pgTable(
  'agent_refusals',
  {
    vmId: uuid('vm_id')
      .notNull()
      .references(() => vms.id),
    /** The code of the error that the agent got. */
    code: text().notNull(),
    at: timestamp({ withTimezone: true }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.vmId, t.code] })],
);

/** The last call of an agent, and when the next is expected; written in batches. */
export const agentPresence = pgTable('agent_presence', {
  vmId: uuid('vm_id')
    .primaryKey()
    .references(() => vms.id),
  lastSeenAt: timestamp('last_seen_at', { withTimezone: true }).notNull(),
  /** The promise: the latest moment at which it should call again. */
  nextExpectedAt: timestamp('next_expected_at', { withTimezone: true }).notNull(),
  /** When it last polled its goal state; an agent that only reports is expected by its reports. */
  lastPolledAt: timestamp('last_polled_at', { withTimezone: true }),
  counter: bigint({ mode: 'number' }).notNull().default(0),
  /** The agent's clock minus the portal's, seconds, as of its last report; for display only. */
  clockSkewSeconds: integer('clock_skew_seconds'),
  heartbeatSeconds: integer('heartbeat_seconds'),
  statusSeconds: integer('status_seconds'),
  appliedEtag: text('applied_etag'),
  /** The agent's run and the highest report number in it. */
  run: text(),
  reportNumber: bigint('report_number', { mode: 'number' }),
});
