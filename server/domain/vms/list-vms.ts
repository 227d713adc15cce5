import { and, ilike, isNull, sql } from 'drizzle-orm';
import { vms } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { readCursor, writeCursor } from '#server/domain/cursor.ts';
import { parse } from '#server/domain/parse.ts';
import { type ListVmsInput, listVmsInput } from './input.ts';
import { type Vm, vmOf } from './vm.ts';

/** A page of VMs by name; `q` is part of a name, in any case. Throws 400 `cursor_invalid`. */
export async function listVms(ctx: Context, input: ListVmsInput): Promise<{ items: Vm[]; nextCursor: string | null }> {
  allow(ctx.actor, 'viewer');
  const { q, limit, cursor } = parse(listVmsInput, input);
  const after = cursor === undefined ? undefined : readCursor(cursor, 2);
  const rows = await ctx.db
    .select()
    .from(vms)
    .where(
      and(
        isNull(vms.deletedAt),
        q ? ilike(vms.name, `%${q.replaceAll(/[\\%_]/g, '\\$&')}%`) : undefined,
        after ? sql`(${vms.name}, ${vms.id}::text) > (${after[0]}, ${after[1]})` : undefined,
      ),
    )
    .orderBy(vms.name, sql`${vms.id}::text`)
    .limit(limit + 1);
  const items = rows.slice(0, limit).map(vmOf);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? writeCursor([last.name, last.id]) : null };
}
