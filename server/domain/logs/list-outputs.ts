import { and, desc, eq, isNull, lt, notLike } from 'drizzle-orm';
import { z } from 'zod';
import { commandOutputs } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { readCursor, writeCursor } from '#server/domain/cursor.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type ListOutputsInput, listOutputsInput } from './input.ts';
import { isOfCommand, type Output, outputOf } from './output.ts';

/** Lists outputs of commands on a VM, newest first, for operators. Works for removed extensions and deleted VMs too. */
export async function listOutputs(
  ctx: Context,
  input: ListOutputsInput,
): Promise<{ items: Output[]; nextCursor: string | null }> {
  allow(ctx.actor, 'operator');
  const { vmId, extension, limit, cursor } = parse(listOutputsInput, input);
  const rows = await ctx.db
    .select()
    .from(commandOutputs)
    .where(
      and(
        eq(commandOutputs.vmId, vmId),
        isNull(commandOutputs.executionId),
        // Outputs of units' hooks are read with their runs.
        notLike(commandOutputs.extension, '%/%'),
        extension === undefined ? undefined : eq(commandOutputs.extension, extension),
        // Ids increase in the order in which the first parts arrived.
        cursor === undefined ? undefined : lt(commandOutputs.id, placeOf(cursor)),
      ),
    )
    .orderBy(desc(commandOutputs.id))
    .limit(limit + 1);
  const items = rows.slice(0, limit).filter(isOfCommand).map(outputOf);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? writeCursor([last.id]) : null };
}

function placeOf(cursor: string): string {
  const [id = ''] = readCursor(cursor, 1);
  if (!z.uuid().safeParse(id).success) throw new DomainError('bad_request', 'cursor_invalid');
  return id;
}
