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
import { findThings, type Things } from './find-things.ts';

/** An act in a list: enough for its sentence, without what was before and after. */
export interface ActRow {
  id: number;
  at: Date;
  actor: { kind: string; id: string; name: string; isThere: boolean };
  /** Null in acts from before it was kept. */
  door: Door | null;
  /** Null where it is not known, or not for this reader. */
  address: string | null;
  client: string | null;
  action: string;
  /** `isThere`: it can be looked at; what was deleted keeps the name it had. */
  target: { kind: string; id: string; name: string; isThere: boolean };
  vm: { id: string; name: string; isThere: boolean } | null;
  /** What the sentence names beside who and what. */
  facts: Facts;
  /** There is a before or an after that this reader may see. */
  hasContents: boolean;
}

export interface ActivityPage {
  items: ActRow[];
  nextCursor: string | null;
  /** The newest act of all: what comes later is counted by `countNewer`. 0 for none. */
  newest: number;
}

/**
 * Acts, newest first, as far as the reader may know of them: acts on VMs and handlers everyone, acts on people admins
 * and who did them. With `upTo` the list stays as it was when that act was the newest.
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
  const things = await findThings(ctx, shown);
  const last = shown.at(-1);
  return {
    items: shown.map((row) => ({
      ...rowOf(ctx, row, things),
      hasContents: row.hasContents && maySeeContents(ctx.actor, row),
    })),
    nextCursor: rows.length > limit && last ? writeCursor([last.at.toISOString(), String(last.id)]) : null,
    newest: found?.newest ?? 0,
  };
}

function placeOf(cursor: string): { at: string; id: string } {
  const [at = '', id = ''] = readCursor(cursor, 2);
  // The form in which cursors are written; the database does not read all that a Date does.
  if (!/^\d{4}-\d\d-\d\dT[\d:.]{8,12}Z$/.test(at) || Number.isNaN(Date.parse(at)) || !/^\d{1,15}$/.test(id))
    throw new DomainError('bad_request', 'cursor_invalid');
  return { at: new Date(at).toISOString(), id };
}

/** An act with the names of what it is about. */
export function rowOf(ctx: Context, row: StoredAct, things: Things): Omit<ActRow, 'hasContents'> {
  const seesAddress = maySeeAddress(ctx.actor, row);
  const facts = factsOf(row);
  return {
    id: row.id,
    at: row.at,
    actor: {
      kind: row.actorKind,
      id: row.actorId,
      name: row.actorName,
      isThere: row.actorKind === 'user' && things.members.has(row.actorId),
    },
    door: row.door,
    address: seesAddress ? row.address : null,
    client: seesAddress ? row.client : null,
    action: row.action,
    target: { kind: row.targetKind, id: row.targetId, ...things.target(row, facts) },
    vm: row.vmId === null ? null : { id: row.vmId, ...things.vm(row.vmId) },
    facts,
  };
}
