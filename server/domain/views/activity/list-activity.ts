import { and, desc, max, sql } from 'drizzle-orm';
import { auditEntries, type Door } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { readCursor, writeCursor } from '#server/domain/cursor.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type ListActivityInput, listActivityInput } from '../input.ts';
import { conditionOf, maySeeAddress, maySeeContents } from './activity-filter.ts';
import { columns, type StoredAct } from './columns.ts';
import { type Facts, factsOf } from './facts.ts';
import { findTargets, type Targets } from './find-targets.ts';

/** An act in a list, without before and after. */
export interface ActRow {
  id: number;
  at: Date;
  actor: { kind: string; id: string; name: string; isThere: boolean };
  /** Null in acts from before it was stored. */
  door: Door | null;
  /** Null if unknown, or hidden from this reader. */
  address: string | null;
  client: string | null;
  action: string;
  /** `isThere`: it still exists; a deleted target keeps its last name. */
  target: { kind: string; id: string; name: string; isThere: boolean };
  vm: { id: string; name: string; isThere: boolean } | null;
  /** The values of the sentence beside actor and target. */
  facts: Facts;
  /** There is a before or an after that this reader can see. */
  hasContents: boolean;
}

export interface ActivityPage {
  items: ActRow[];
  nextCursor: string | null;
  /** The newest act of all: `countNewer` counts later ones. 0 if there is none. */
  newest: number;
}

/**
 * Acts that the reader can see, newest first: acts on VMs and handlers are for everyone, acts on people for admins and
 * their authors. `upTo` keeps the list as it was when that act was the newest.
 */
export async function listActivity(ctx: Context, input: ListActivityInput): Promise<ActivityPage> {
  allow(ctx.actor, 'viewer');
  const { limit, cursor, ...filter } = parse(listActivityInput, input ?? {});
  const after = cursor === undefined ? undefined : placeOf(cursor);
  const matches = await conditionOf(ctx, filter);
  const [[found], rows] = await Promise.all([
    ctx.db.select({ newest: max(auditEntries.id) }).from(auditEntries),
    ctx.db
      .select({
        ...columns,
        hasContents: sql<boolean>`${auditEntries.before} is not null or ${auditEntries.after} is not null`,
      })
      .from(auditEntries)
      .where(
        and(
          matches,
          after && sql`(${auditEntries.at}, ${auditEntries.id}) < (${after.at}::timestamptz, ${after.id}::bigint)`,
        ),
      )
      .orderBy(desc(auditEntries.at), desc(auditEntries.id))
      .limit(limit + 1),
  ]);
  const shown = rows.slice(0, limit);
  const targets = await findTargets(ctx, shown);
  const last = shown.at(-1);
  return {
    items: shown.map((row) => ({
      ...rowOf(ctx, row, targets),
      hasContents: row.hasContents && maySeeContents(ctx.actor, row),
    })),
    nextCursor: rows.length > limit && last ? writeCursor([last.at.toISOString(), String(last.id)]) : null,
    newest: found?.newest ?? 0,
  };
}

function placeOf(cursor: string): { at: string; id: string } {
  const [at = '', id = ''] = readCursor(cursor, 2);
  // The format of times in cursors; the database does not read every format of Date.
  if (!/^\d{4}-\d\d-\d\dT[\d:.]{8,12}Z$/.test(at) || Number.isNaN(Date.parse(at)) || !/^\d{1,15}$/.test(id))
    throw new DomainError('bad_request', 'cursor_invalid');
  return { at: new Date(at).toISOString(), id };
}

/** An act with the names of its targets. */
export function rowOf(ctx: Context, row: StoredAct, targets: Targets): Omit<ActRow, 'hasContents'> {
  const seesAddress = maySeeAddress(ctx.actor, row);
  const facts = factsOf(row);
  return {
    id: row.id,
    at: row.at,
    actor: {
      kind: row.actorKind,
      id: row.actorId,
      name: row.actorName,
      isThere: row.actorKind === 'user' && targets.members.has(row.actorId),
    },
    door: row.door,
    address: seesAddress ? row.address : null,
    client: seesAddress ? row.client : null,
    action: row.action,
    target: { kind: row.targetKind, id: row.targetId, ...targets.target(row, facts) },
    vm: row.vmId === null ? null : { id: row.vmId, ...targets.vm(row.vmId) },
    facts,
  };
}
