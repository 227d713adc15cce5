import {
  bigint,
  boolean,
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
import type { PlatformReport } from '#protocol/executions/index.ts';
import { vms } from './vms.ts';

/** One-time tokens with which a machine enrolls as the agent of a VM. */
export const enrollmentTokens = pgTable(
  'enrollment_tokens',
  {
    vmId: uuid('vm_id')
      .notNull()
      .references(() => vms.id),
    tokenHash: text('token_hash').notNull(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
    /**
     * The actor who issued the token, as `kind:id`, and the actor's name at that time. Null if unknown; an unknown
     * actor does not count as an admin.
     */
    issuedBy: text('issued_by'),
    issuedByName: text('issued_by_name'),
    expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
    voidedAt: timestamp('voided_at', { withTimezone: true }),
    usedAt: timestamp('used_at', { withTimezone: true }),
    /**
     * SHA-256 of the public key of the machine that used the token. For 10 minutes, a repeated call with this key gets
     * the same response.
     */
    usedKey: text('used_key'),
  },
  (t) => [primaryKey({ columns: [t.vmId, t.tokenHash] }), index('enrollment_tokens_hash').on(t.tokenHash)],
);

export interface AgentOs {
  name?: string;
  version?: string;
  arch?: string;
}

/** The machine of each VM, and the agent that runs on it. */
export const agents = pgTable(
  'agents',
  {
    vmId: uuid('vm_id')
      .primaryKey()
      .references(() => vms.id),
    credentialHash: text('credential_hash').notNull(),
    /** The certificate as PEM. */
    certificate: text().notNull(),
    /** SHA-1 of the DER certificate, in uppercase hexadecimal. */
    thumbprint: text().notNull(),
    /** SHA-256 of the public key. A key can serve only one VM. */
    keyHash: text('key_hash').notNull(),
    /** `reference`: an agent that enrolled at `/agent/v1`; `stock`: the stock agent with its forwarder. */
    kind: text().$type<'reference' | 'stock'>().notNull().default('reference'),
    name: text().notNull(),
    version: text().notNull(),
    os: jsonb().$type<AgentOs>().notNull(),
    /** What the machine can run, as reported by its agent; null if the agent never reported it. */
    platforms: jsonb().$type<PlatformReport>(),
    enrolledAt: timestamp('enrolled_at', { withTimezone: true }).notNull(),
    /** Name of the actor who issued the enrollment token. Null if unknown, and for a stock agent. */
    enrolledBy: text('enrolled_by'),
    /** `Principal.key` of the actor who issued the enrollment token. Null if unknown, and for a stock agent. */
    issuerKey: text('issuer_key'),
    /** Whether this actor was an admin when the machine enrolled. */
    issuerIsAdmin: boolean('issuer_is_admin').notNull().default(false),
    /** The instance id that the first machine with this credential sent in `Annex-Agent`. */
    instanceId: text('instance_id'),
    /** The machine's address in the network of its model, as reported by its agent. Null for VMs that belong to no model. */
    internalAddress: text('internal_address'),
    /** When a second machine with the same identity was last rejected. */
    duplicateSeenAt: timestamp('duplicate_seen_at', { withTimezone: true }),
  },
  (t) => [
    uniqueIndex('agents_credential').on(t.credentialHash),
    uniqueIndex('agents_key').on(t.keyHash),
    index('agents_enrolled').on(t.enrolledAt),
  ],
);

/** Rejected calls of an agent, shown on the VM's page. Only the last rejected call for each error code is kept. */
export const agentRefusals = pgTable(
  'agent_refusals',
  {
    vmId: uuid('vm_id')
      .notNull()
      .references(() => vms.id),
    /** The error code that the agent received. */
    code: text().notNull(),
    at: timestamp({ withTimezone: true }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.vmId, t.code] })],
);

/** The last call of each agent, and when its next call is expected. Written in batches. */
export const agentPresence = pgTable('agent_presence', {
  vmId: uuid('vm_id')
    .primaryKey()
    .references(() => vms.id),
  lastSeenAt: timestamp('last_seen_at', { withTimezone: true }).notNull(),
  /** The time by which the agent should call again. */
  nextExpectedAt: timestamp('next_expected_at', { withTimezone: true }).notNull(),
  /**
   * When the agent last polled. `nextExpectedAt` is based on polls if the agent polled recently, otherwise on reports.
   */
  lastPolledAt: timestamp('last_polled_at', { withTimezone: true }),
  counter: bigint({ mode: 'number' }).notNull().default(0),
  /** The agent's clock minus the portal's, in seconds, as of the last report. For display only. */
  clockSkewSeconds: integer('clock_skew_seconds'),
  heartbeatSeconds: integer('heartbeat_seconds'),
  statusSeconds: integer('status_seconds'),
  appliedEtag: text('applied_etag'),
  /** The agent's current run, and the highest report number in this run. */
  run: text(),
  reportNumber: bigint('report_number', { mode: 'number' }),
});
