import { boolean, customType, integer, jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { vms } from './vms.ts';

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });

/** A component that a stock agent reported as unhealthy. Kept after the component has recovered. */
export interface AgentObservation {
  name: string;
  /** The text of the last unhealthy report. */
  text: string | null;
  since: string;
  /** When the component recovered; null while it is still unhealthy. */
  until: string | null;
}

/**
 * A change in one of the three marks that identify the VM's caller: the forwarder's run, the agent's transport
 * certificate, or the container id that the agent sends.
 */
export interface AgentSighting {
  kind: 'forwarder' | 'transport' | 'container';
  mark: string;
  at: string;
}

/**
 * Data of a stock agent in addition to its row in `agents`. In that row, the credential is the forwarder token, and the
 * certificate is the tenant certificate.
 */
export const stockAgents = pgTable('stock_agents', {
  vmId: uuid('vm_id')
    .primaryKey()
    .references(() => vms.id),
  /** The id by which WireServer and HostGAPlugin know the VM. */
  containerId: uuid('container_id').notNull(),
  grantedAt: timestamp('granted_at', { withTimezone: true }).notNull(),
  grantedBy: text('granted_by').notNull(),
  /** The actor to whom the token was shown, as `kind:id`. Null if unknown. */
  issuedBy: text('issued_by'),
  /**
   * The tenant key (PKCS#8), encrypted with AES-256-GCM and the portal's key; with ANNEX_CUSTODY=vm, null once the key
   * is wrapped.
   */
  tenantKey: bytea('tenant_key'),
  /**
   * With ANNEX_CUSTODY=vm, the tenant key and its certificate as CMS EnvelopedData (DER), encrypted for
   * `transportThumbprint`.
   */
  wrappedTenantKey: bytea('wrapped_tenant_key'),
  tenantKeyAt: timestamp('tenant_key_at', { withTimezone: true }).notNull(),
  /**
   * SHA-1 of the certificate for which the tenant key was last wrapped. The agent creates a new certificate each time
   * it starts.
   */
  transportThumbprint: text('transport_thumbprint'),
  transportAt: timestamp('transport_at', { withTimezone: true }),
  /** Incarnation of the VM's goal state that was last delivered; 0 before the first delivery. */
  goalStateSeen: integer('goal_state_seen').notNull().default(0),
  /** The incarnation number that the agent sees. It increases only when something changes for the agent. */
  incarnation: integer().notNull().default(0),
  incarnationAt: timestamp('incarnation_at', { withTimezone: true }),
  /** Fingerprint of the parts of the goal state that the agent acts on. */
  fingerprint: text(),
  /** The incarnation that the agent last completed, and the agent's message about it. */
  settledIncarnation: integer('settled_incarnation'),
  settledAt: timestamp('settled_at', { withTimezone: true }),
  settledStatus: text('settled_status'),
  settledMessage: text('settled_message'),
  /** Holds in the form of the previous release; the table `holds` replaces these three columns. */
  heldAt: timestamp('held_at', { withTimezone: true }),
  heldBy: text('held_by'),
  releasedAt: timestamp('released_at', { withTimezone: true }),
  /** The last unhealthy observation for each name, sorted by when it began, oldest first. */
  observations: jsonb().$type<AgentObservation[]>().notNull().default([]),
  /**
   * Whether the agent gets version numbers as published. If not, it gets them with four parts, as it did when it
   * installed them.
   */
  publishedVersions: boolean('published_versions').notNull().default(false),
  /** Recent changes of the caller, newest last. They reveal two machines with the same token. */
  sightings: jsonb().$type<AgentSighting[]>().notNull().default([]),
});
