import { boolean, customType, integer, jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { vms } from './vms.ts';

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });

/** Something that a stock agent monitors and found unhealthy, until it recovered. */
export interface AgentObservation {
  name: string;
  /** Its last text while unhealthy. */
  text: string | null;
  since: string;
  /** Null while it is unhealthy. */
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
  /** The actor who received the token, as `kind:id`. Null: unknown. */
  issuedBy: text('issued_by'),
  /** PKCS#8 of the tenant key, AES-256-GCM under the portal's key; null with ANNEX_CUSTODY=vm once wrapped. */
  tenantKey: bytea('tenant_key'),
  /** With ANNEX_CUSTODY=vm: key and certificate as DER of CMS EnvelopedData for `transportThumbprint`. */
  wrappedTenantKey: bytea('wrapped_tenant_key'),
  tenantKeyAt: timestamp('tenant_key_at', { withTimezone: true }).notNull(),
  /** SHA-1 of the certificate that the agent last had the tenant key wrapped for; it creates a new one at each start. */
  transportThumbprint: text('transport_thumbprint'),
  transportAt: timestamp('transport_at', { withTimezone: true }),
  /** The goal state that was last delivered; 0 before the first. */
  goalStateSeen: integer('goal_state_seen').notNull().default(0),
  /** The incarnation that the agent sees: the last goal state with a change that it acts on. */
  incarnation: integer().notNull().default(0),
  incarnationAt: timestamp('incarnation_at', { withTimezone: true }),
  /** Of all that the agent acts upon in that incarnation. */
  fingerprint: text(),
  /** The incarnation that it last finished, and its message. */
  settledIncarnation: integer('settled_incarnation'),
  settledAt: timestamp('settled_at', { withTimezone: true }),
  settledStatus: text('settled_status'),
  settledMessage: text('settled_message'),
  /** Since when and by whom it is on hold; null where it is not. */
  heldAt: timestamp('held_at', { withTimezone: true }),
  heldBy: text('held_by'),
  /** The end of its last hold: what was declared meanwhile is due from then on. */
  releasedAt: timestamp('released_at', { withTimezone: true }),
  /** Unhealthy observations, the last of each name, in the order of their first report. */
  observations: jsonb().$type<AgentObservation[]>().notNull().default([]),
  /** Whether the agent gets versions as they were published. Otherwise with four parts, under which it installed them. */
  publishedVersions: boolean('published_versions').notNull().default(false),
  /** Callers, which reveal two machines with the same token. */
  sightings: jsonb().$type<AgentSighting[]>().notNull().default([]),
});
