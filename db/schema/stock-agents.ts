import { boolean, customType, integer, jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { vms } from './vms.ts';

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });

/** Something that a stock agent looks after and found not healthy, from then on until it found it healthy again. */
export interface AgentObservation {
  name: string;
  /** What it last said of it while it was not healthy. */
  text: string | null;
  since: string;
  /** Null as long as it is not healthy. */
  until: string | null;
}

/**
 * When a different caller than before was seen for a VM: the forwarder's run, the agent's transport certificate, or the
 * container that it believes to be. The newest last.
 */
export interface AgentSighting {
  kind: 'forwarder' | 'transport' | 'container';
  mark: string;
  at: string;
}

/**
 * What is known of a stock Azure Linux agent beside its row in `agents`, whose credential is the token of its forwarder
 * and whose certificate is the tenant certificate.
 */
export const stockAgents = pgTable('stock_agents', {
  vmId: uuid('vm_id')
    .primaryKey()
    .references(() => vms.id),
  /** The name by which WireServer and HostGAPlugin know the VM. */
  containerId: uuid('container_id').notNull(),
  grantedAt: timestamp('granted_at', { withTimezone: true }).notNull(),
  grantedBy: text('granted_by').notNull(),
  /** The actor who was given the token, as `kind:id`. Null: unknown. */
  issuedBy: text('issued_by'),
  /** PKCS#8 of the tenant key, AES-256-GCM under the portal's key; null with ANNEX_CUSTODY=vm once wrapped. */
  tenantKey: bytea('tenant_key'),
  /** With ANNEX_CUSTODY=vm: key and certificate as DER of CMS EnvelopedData for `transportThumbprint`. */
  wrappedTenantKey: bytea('wrapped_tenant_key'),
  tenantKeyAt: timestamp('tenant_key_at', { withTimezone: true }).notNull(),
  /** SHA-1 of the certificate that the agent last had the tenant key wrapped for; it makes a new one at each start. */
  transportThumbprint: text('transport_thumbprint'),
  transportAt: timestamp('transport_at', { withTimezone: true }),
  /** The goal state that was last handed out; 0 before the first. */
  goalStateSeen: integer('goal_state_seen').notNull().default(0),
  /** What the agent compares: the goal state that last brought something which it acts upon. */
  incarnation: integer().notNull().default(0),
  incarnationAt: timestamp('incarnation_at', { withTimezone: true }),
  /** Of all that the agent acts upon in that incarnation. */
  fingerprint: text(),
  /** The incarnation that it was last done with, and what it said. */
  settledIncarnation: integer('settled_incarnation'),
  settledAt: timestamp('settled_at', { withTimezone: true }),
  settledStatus: text('settled_status'),
  settledMessage: text('settled_message'),
  /** Since when and by whom it is on hold; null where it is not. */
  heldAt: timestamp('held_at', { withTimezone: true }),
  heldBy: text('held_by'),
  /** The end of its last hold: what was declared meanwhile is due from then on. */
  releasedAt: timestamp('released_at', { withTimezone: true }),
  /** What it found not healthy, the last of each name, in the order in which they were first heard of. */
  observations: jsonb().$type<AgentObservation[]>().notNull().default([]),
  /** Whether the agent gets versions as they were published. Otherwise with four parts, under which it installed them. */
  publishedVersions: boolean('published_versions').notNull().default(false),
  /** By which two machines with the same token show. */
  sightings: jsonb().$type<AgentSighting[]>().notNull().default([]),
});
