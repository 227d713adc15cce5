import { and, eq, ilike, inArray, or, type SQL, sql } from 'drizzle-orm';
import type { AnyPgColumn } from 'drizzle-orm/pg-core';
import { auditEntries, vms } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';

/**
 * If more VMs than this match, so many entries match that a scan from the newest entry quickly finds enough of them.
 */
const maxVms = 500;
/** Maximum number of distinct targets or actors read per kind. */
const maxNames = 2_000;

/** Kinds with few targets, each of which appears in many entries. VMs are handled separately. */
const sharedKinds = ['extension', 'version', 'publisher', 'member', 'token'] as const;
const actorKinds = ['user', 'token', 'bootstrap', 'system'] as const;

/**
 * Returns a condition for entries whose actor, target or VM has this text in its name. Finds the names first, using the
 * index of each kind, so that a search for a rare name does not read a million entries.
 */
export async function namesContain(ctx: Context, part: string): Promise<SQL | undefined> {
  const like = patternOf(part);
  const found = await ctx.db
    .select({ id: vms.id })
    .from(vms)
    .where(ilike(vms.name, like))
    .limit(maxVms + 1);
  if (found.length > maxVms) return walked(ctx, like);
  const [targets, actors] = await Promise.all([
    Promise.all(sharedKinds.map((kind) => targetsOf(ctx, kind, like))),
    Promise.all(actorKinds.map((kind) => actorsOf(ctx, kind, like))),
  ]);
  const vmIds = found.map(({ id }) => id);
  return or(
    inArray(auditEntries.vmId, vmIds),
    ...sharedKinds.map((kind, index) => among(auditEntries.targetKind, kind, auditEntries.targetId, targets[index])),
    ...actorKinds.map((kind, index) => among(auditEntries.actorKind, kind, auditEntries.actorId, actors[index])),
  );
}

/** Returns a LIKE pattern that matches texts containing this text literally. */
export const patternOf = (part: string): string => `%${part.replaceAll(/[\\%_]/g, '\\$&')}%`;

function among(
  kindColumn: AnyPgColumn,
  kind: string,
  idColumn: AnyPgColumn,
  ids: readonly string[] = [],
): SQL | undefined {
  return ids.length === 0 ? undefined : and(eq(kindColumn, kind), inArray(idColumn, [...ids]));
}

function walked(ctx: Context, like: string): SQL | undefined {
  return or(
    ilike(auditEntries.actorName, like),
    ilike(auditEntries.targetId, like),
    sql`${auditEntries.details} ->> 'name' ilike ${like}`,
    inArray(auditEntries.vmId, ctx.db.select({ id: vms.id }).from(vms).where(ilike(vms.name, like))),
  );
}

/**
 * Returns the ids of targets of a kind whose id or newest name matches. Takes a fixed number of index lookups per
 * target, however many entries the target has.
 */
async function targetsOf(ctx: Context, kind: string, like: string): Promise<string[]> {
  const { rows } = await ctx.db.execute<{ id: string }>(sql`
    with recursive step as (
      (select target_id as id, 1 as n from audit_entries where target_kind = ${kind} order by target_id limit 1)
      union all
      select (select target_id from audit_entries where target_kind = ${kind} and target_id > step.id
              order by target_id limit 1), n + 1
      from step where step.id is not null and n < ${maxNames}
    )
    select step.id from step
    cross join lateral (
      select details ->> 'name' as name from audit_entries
      where target_kind = ${kind} and target_id = step.id
      order by target_kind desc, target_id desc, id desc limit 1
    ) newest
    where step.id is not null and (step.id ilike ${like} or newest.name ilike ${like})`);
  return rows.map(({ id }) => id);
}

/** Returns the ids of actors of a kind whose newest name matches. */
async function actorsOf(ctx: Context, kind: string, like: string): Promise<string[]> {
  const { rows } = await ctx.db.execute<{ id: string }>(sql`
    with recursive step as (
      (select actor_id as id, 1 as n from audit_entries where actor_kind = ${kind} order by actor_id limit 1)
      union all
      select (select actor_id from audit_entries where actor_kind = ${kind} and actor_id > step.id
              order by actor_id limit 1), n + 1
      from step where step.id is not null and n < ${maxNames}
    )
    select step.id from step
    cross join lateral (
      select actor_name as name from audit_entries
      where actor_kind = ${kind} and actor_id = step.id
      order by actor_kind desc, actor_id desc, at desc, id desc limit 1
    ) newest
    where step.id is not null and newest.name ilike ${like}`);
  return rows.map(({ id }) => id);
}
