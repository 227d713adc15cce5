import { and, desc, eq, gt, isNull, sql } from 'drizzle-orm';
import { z } from 'zod';
import { logArchives } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { handlerId } from '#server/domain/packages/input.ts';
import { parse } from '#server/domain/parse.ts';
import { type Archive, archive, archiveOf, requestHours } from './archive.ts';
import { type ListArchivesInput, listArchivesInput, type OpenArchiveInput, openArchiveInput } from './input.ts';

const most = 100;

export const archiveList = z.object({ handlers: z.array(handlerId), items: z.array(archive) });
export type ArchiveList = z.infer<typeof archiveList>;

/**
 * Lists the handlers that are or were declared for a VM, and the 100 newest requests for their logs, newest first. For
 * operators. Works for deleted VMs too.
 */
export async function listArchives(ctx: Context, input: ListArchivesInput): Promise<ArchiveList> {
  allow(ctx.actor, 'operator');
  const { vmId } = parse(listArchivesInput, input);
  const rows = await ctx.db
    .select()
    .from(logArchives)
    .where(eq(logArchives.vmId, vmId))
    .orderBy(desc(logArchives.id))
    .limit(most);
  const { rows: handlers } = await ctx.db.execute<{ handler: string }>(sql`
    select distinct e ->> 'handler' as handler from goal_states g, json_array_elements(g.contents) e
     where g.vm_id = ${vmId} order by 1`);
  return { handlers: handlers.map(({ handler }) => handler), items: rows.map((row) => archiveOf(row, ctx.now)) };
}

/** Lists the open requests for a VM's agent. */
export async function listRequestedArchives(ctx: Context, vmId: string): Promise<{ id: string; handler: string }[]> {
  const { id, handler, requestedAt, answeredAt } = logArchives;
  return ctx.db
    .select({ id, handler })
    .from(logArchives)
    .where(
      and(
        eq(logArchives.vmId, vmId),
        isNull(answeredAt),
        gt(requestedAt, new Date(ctx.now.getTime() - requestHours * 3_600_000)),
      ),
    )
    .orderBy(id);
}

/** Opens an archive that the agent sent, for operators. Throws 404 `archive_unknown`, 503 `stored_bytes_damaged`. */
export async function openArchive(
  ctx: Context,
  input: OpenArchiveInput,
): Promise<{ archive: Archive; bytes: AsyncIterable<Uint8Array> }> {
  allow(ctx.actor, 'operator');
  const { vmId, archiveId } = parse(openArchiveInput, input);
  const [row] = await ctx.db
    .select()
    .from(logArchives)
    .where(and(eq(logArchives.vmId, vmId), eq(logArchives.id, archiveId)));
  if (row?.sha256 == null) throw new DomainError('not_found', 'archive_unknown');
  const blob = await ctx.blobs.open(row.sha256);
  if (blob === null) throw new DomainError('unavailable', 'stored_bytes_damaged');
  return { archive: archiveOf(row, ctx.now), bytes: blob.stream };
}
