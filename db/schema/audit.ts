import { sql } from 'drizzle-orm';
import { bigint, index, integer, jsonb, pgTable, text, timestamp, unique, uuid } from 'drizzle-orm/pg-core';

/** The door of an act. `cli` are the project's own commands, `system` the portal's automatic actions. */
export const doors = ['page', 'api', 'agent', 'system', 'cli'] as const;
export type Door = (typeof doors)[number];

/** Actor, action, target and origin. Secrets appear as changed or not, never as values. */
export const auditEntries = pgTable(
  'audit_entries',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    at: timestamp({ withTimezone: true }).notNull(),
    actorKind: text('actor_kind').notNull(),
    actorId: text('actor_id').notNull(),
    actorName: text('actor_name').notNull(),
    /** Null in rows of earlier releases. */
    door: text().$type<Door>(),
    address: text(),
    /** The caller's `User-Agent`. */
    client: text(),
    /** `<noun>.<verb>`, for example `extension.set`. */
    action: text().notNull(),
    targetKind: text('target_kind').notNull(),
    targetId: text('target_id').notNull(),
    vmId: uuid('vm_id'),
    requestId: text('request_id').notNull(),
    details: jsonb().$type<Record<string, unknown>>().notNull(),
    /** The target before and after; null if there is nothing to show. */
    before: jsonb().$type<Record<string, unknown>>(),
    after: jsonb().$type<Record<string, unknown>>(),
    /** Computed with a key that the database does not know: rows inserted past the portal have none. */
    seal: text(),
    /**
     * Running number, 1 and up without a gap, assigned with the seal in the act's transaction. Null only in rows of the
     * first release that were not adopted yet, and in rows that were inserted past the portal.
     */
    position: bigint({ mode: 'number' }),
    /** Keyed digest of this row and of the hash before it. */
    hash: text(),
  },
  (t) => [
    unique('audit_entries_seal').on(t.seal),
    unique('audit_entries_position').on(t.position),
    index('audit_entries_unlinked').on(t.id).where(sql`${t.position} is null`),
    index('audit_entries_at').on(t.at, t.id),
    index('audit_entries_vm').on(t.vmId, t.id),
    index('audit_entries_vm_at').on(t.vmId, t.at, t.id),
    index('audit_entries_actor_at').on(t.actorKind, t.actorId, t.at, t.id),
    index('audit_entries_action_at').on(t.action, t.at, t.id),
    index('audit_entries_target').on(t.targetKind, t.targetId, t.id),
  ],
);

/** A fault that a check of the chain found. */
export interface ChainFault {
  kind: 'deleted' | 'altered' | 'inserted' | 'replayed' | 'truncated' | 'relinked';
  /** Id of the row; of the last good one if a row is missing. */
  id: number | null;
  position: number | null;
}

/**
 * One row: the end of the chain, and the results of the worker's checks. Writers lock it for the last statements of their
 * transaction. `linkedAt` is the time of the last act.
 */
export const auditChain = pgTable('audit_chain', {
  id: integer().primaryKey(),
  position: bigint({ mode: 'number' }).notNull(),
  hash: text().notNull(),
  linkedAt: timestamp('linked_at', { withTimezone: true }).notNull(),
  /** End of the last check of all acts, and how many there were. */
  verifiedAt: timestamp('verified_at', { withTimezone: true }),
  verifiedPosition: bigint('verified_position', { mode: 'number' }),
  fault: jsonb().$type<ChainFault>(),
  /** When the newest acts were checked last. */
  checkedAt: timestamp('checked_at', { withTimezone: true }),
  /** Keyed digest of the checks' results, so that a statement in the database cannot declare the chain intact. */
  verdict: text(),
});

/** Written by the first release only: anchors in the database prove nothing against someone with write access. */
export const auditAnchors = pgTable('audit_anchors', {
  position: bigint({ mode: 'number' }).primaryKey(),
  hash: text().notNull(),
  at: timestamp({ withTimezone: true }).notNull(),
});
