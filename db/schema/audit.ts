import { sql } from 'drizzle-orm';
import { bigint, index, integer, jsonb, pgTable, text, timestamp, unique, uuid } from 'drizzle-orm/pg-core';

/** The entry point of an action. `cli`: Annex's own commands; `system`: automatic actions of the portal. */
export const doors = ['page', 'api', 'agent', 'system', 'cli'] as const;
export type Door = (typeof doors)[number];

/**
 * The activity log: actor, action, target and origin. For secrets, it records only whether they changed, never their
 * values.
 */
export const auditEntries = pgTable(
  'audit_entries',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    at: timestamp({ withTimezone: true }).notNull(),
    actorKind: text('actor_kind').notNull(),
    actorId: text('actor_id').notNull(),
    actorName: text('actor_name').notNull(),
    /** The entry point of the action; null in rows of earlier releases. */
    door: text().$type<Door>(),
    address: text(),
    /** The caller's `User-Agent`. */
    client: text(),
    /** The action as `<noun>.<verb>`, for example `extension.set`. */
    action: text().notNull(),
    targetKind: text('target_kind').notNull(),
    targetId: text('target_id').notNull(),
    vmId: uuid('vm_id'),
    requestId: text('request_id').notNull(),
    details: jsonb().$type<Record<string, unknown>>().notNull(),
    /** The changed parts of the target, before and after the action; null if there is nothing to show. */
    before: jsonb().$type<Record<string, unknown>>(),
    after: jsonb().$type<Record<string, unknown>>(),
    /** Computed with a key that is not in the database, so rows that the portal did not insert have no valid seal. */
    seal: text(),
    /**
     * Consecutive number, starting at 1, assigned with the seal in the action's transaction. Null only in rows of the
     * first release that are not in the chain yet, and in rows that the portal did not insert.
     */
    position: bigint({ mode: 'number' }),
    /** Keyed digest of this row and the previous row's hash. */
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

/** A fault found by a check of the chain. */
export interface ChainFault {
  kind: 'deleted' | 'altered' | 'inserted' | 'replayed' | 'truncated' | 'relinked';
  /** Id of the faulty row. If a row is missing, the id of the last row before it; null if unknown. */
  id: number | null;
  position: number | null;
}

/**
 * A single row: the head of the chain, and the results of the worker's checks. Writers lock it for the last statements
 * of their transaction. `linkedAt` is the time of the last entry.
 */
export const auditChain = pgTable('audit_chain', {
  id: integer().primaryKey(),
  position: bigint({ mode: 'number' }).notNull(),
  hash: text().notNull(),
  linkedAt: timestamp('linked_at', { withTimezone: true }).notNull(),
  /** When all entries were last checked, and the number of entries checked. */
  verifiedAt: timestamp('verified_at', { withTimezone: true }),
  verifiedPosition: bigint('verified_position', { mode: 'number' }),
  fault: jsonb().$type<ChainFault>(),
  /** When the newest entries were last checked. */
  checkedAt: timestamp('checked_at', { withTimezone: true }),
  /** Keyed digest of the results, so that someone with only database access cannot declare the chain intact. */
  verdict: text(),
});

/**
 * Written only by the first release. Anchors in the database are useless against someone who can write to the database.
 */
export const auditAnchors = pgTable('audit_anchors', {
  position: bigint({ mode: 'number' }).primaryKey(),
  hash: text().notNull(),
  at: timestamp({ withTimezone: true }).notNull(),
});
