import { and, desc, max, sql } from 'drizzle-orm';
import { auditEntries, type Door } from '#db/schema/index.ts';
import type { WantedLanguage } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { readCursor, writeCursor } from '#server/domain/cursor.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { isStorable, type ListActivityInput, listActivityInput } from '../input.ts';
import { conditionOf, maySeeAddress, maySeeContents } from './activity-filter.ts';
import { columns, type StoredAct } from './columns.ts';
import { type Facts, factsOf } from './facts.ts';
import { findTargets, type Targets } from './find-targets.ts';
import { type NamedChanges, nameChanges } from './named-changes.ts';

/** An entry in a list, without its values before and after. */
export interface ActRow {
  id: number;
  at: Date;
  actor: { kind: string; id: string; name: string; isThere: boolean };
  /** Null in entries from releases that did not store the door. */
  door: Door | null;
  /** The IP address; null if it is unknown or hidden from this caller. */
  address: string | null;
  client: string | null;
  action: string;
  /** `isThere`: whether the target still exists. A deleted target keeps its last name. */
  target: { kind: string; id: string; name: string; isThere: boolean };
  vm: { id: string; name: string; isThere: boolean } | null;
  /** The values of the sentence, except the actor and the target. */
  facts: Facts;
  /** Whether this caller can see values from before or after the action. */
  hasContents: boolean;
  /** The changes that the entry's sentence names; null if it names none or the caller cannot see them. */
  changes: NamedChanges | null;
}

export interface ActivityPage {
  items: ActRow[];
  nextCursor: string | null;
  /** Id of the newest entry in the log; 0 if there is none. `countNewerActs` counts the entries after it. */
  newest: number;
}

/**
 * Lists the entries that the caller can see, newest first: entries about VMs, handlers, publishers, problems,
 * executions and runbooks are visible to everyone, all other entries only to admins and to the actor. With `upTo`, the
 * list starts at that entry, as if no newer entries existed. Settings are named in the preferred languages.
 */
export async function listActivity(
  ctx: Context,
  input: ListActivityInput,
  wanted: readonly WantedLanguage[] = [],
): Promise<ActivityPage> {
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
  const [targets, changes] = await Promise.all([findTargets(ctx, shown), nameChanges(ctx, shown, wanted)]);
  const last = shown.at(-1);
  return {
    items: shown.map((row) => ({
      ...rowOf(ctx, row, targets),
      hasContents: row.hasContents && maySeeContents(ctx.actor, row),
      changes: changes.get(row.id) ?? null,
    })),
    nextCursor: rows.length > limit && last ? writeCursor([last.at.toISOString(), String(last.id)]) : null,
    newest: found?.newest ?? 0,
  };
}

function placeOf(cursor: string): { at: string; id: string } {
  const [at = '', id = ''] = readCursor(cursor, 2);
  // Cursors contain times in this format. The time is checked because `Date` accepts times that PostgreSQL does not.
  const isTime = /^\d{4}-\d\d-\d\dT[\d:.]{8,12}Z$/.test(at) && !Number.isNaN(Date.parse(at)) && isStorable(at);
  if (!isTime || !/^\d{1,15}$/.test(id)) throw new DomainError('bad_request', 'cursor_invalid');
  return { at: new Date(at).toISOString(), id };
}

/** Returns a list row, with the names of the entry's targets. */
export function rowOf(ctx: Context, row: StoredAct, targets: Targets): Omit<ActRow, 'hasContents' | 'changes'> {
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
    facts: seesAddress ? facts : { ...facts, address: undefined },
  };
}
