import { type SQL, sql } from 'drizzle-orm';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';

/** The progress of a new portal toward its first running extension. */
export interface FirstSteps {
  /** Whether a handler version is published. */
  published: boolean;
  /** Whether a machine is enrolled. */
  enrolled: boolean;
  /** Whether an extension is declared. */
  added: boolean;
  /** The VM to continue with: an enrolled VM if there is one. Null if there is no VM, or if all steps are done. */
  vm: { id: string; name: string; enrolled: boolean } | null;
}

/**
 * Returns which of the first steps of a new portal are done. Each check stops at the first match, so it is fast.
 */
export async function getFirstSteps(ctx: Context): Promise<FirstSteps> {
  allow(ctx.actor, 'viewer');
  const { rows } = await ctx.db.execute<Pick<FirstSteps, 'published' | 'enrolled' | 'added'>>(sql`
    select exists (select from handler_versions where state = 'published') as published,
      exists (select from agents) as enrolled,
      exists (select from extensions) as added`);
  const [steps = { published: false, enrolled: false, added: false }] = rows;
  const isDone = steps.published && steps.enrolled && steps.added;
  return { ...steps, vm: isDone ? null : await vmToContinueWith(ctx) };
}

async function vmToContinueWith(ctx: Context): Promise<FirstSteps['vm']> {
  const found = async (query: SQL) => (await ctx.db.execute<{ id: string; name: string }>(query)).rows[0];
  const machine = await found(sql`
    select v.id, v.name from agents a join vms v on v.id = a.vm_id where v.deleted_at is null limit 1`);
  if (machine !== undefined) return { ...machine, enrolled: true };
  const waiting = await found(sql`select id, name from vms where deleted_at is null order by name, id limit 1`);
  return waiting === undefined ? null : { ...waiting, enrolled: false };
}
