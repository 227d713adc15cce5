import { rm } from 'node:fs/promises';
import { and, eq, sql } from 'drizzle-orm';
import { logArchives } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { goalStatesChannel } from '#server/domain/goal-states/index.ts';
import { lockBytes, receiveUpload, removeUnusedBytes } from '#server/domain/packages/index.ts';
import { tell } from '#server/platform/wakes/index.ts';
import type { ArchiveRow } from './archive.ts';
import { IncomingBytes } from './arrival.ts';

/** Maximum number of archives per VM. */
const kept = 20;

/** The archive that an agent sends; zero bytes if the machine has no such logs. */
export interface SentArchive {
  form: NonNullable<ArchiveRow['form']>;
  bytes: AsyncIterable<Uint8Array>;
  /** The Content-Length of the request. */
  declared: number | undefined;
}

/**
 * Stores a requested archive without opening it. If the request is already answered, changes nothing. Deletes the VM's
 * oldest archives if they exceed its limits. Throws 404 `archive_unknown` if the archive was not requested, 413
 * `archive_too_large`, 429 `uploads_waiting`.
 */
export async function receiveArchive(ctx: Context, vmId: string, archiveId: string, sent: SentArchive): Promise<void> {
  const its = and(eq(logArchives.vmId, vmId), eq(logArchives.id, archiveId));
  const [request] = await ctx.db.select().from(logArchives).where(its);
  if (request === undefined) throw new DomainError('not_found', 'archive_unknown');
  if (request.answeredAt !== null) return;
  const { logs } = ctx.config.limits;
  const arrival = new IncomingBytes(ctx, vmId);
  let path: string | undefined;
  try {
    const bounds = { limit: logs.archiveBytes, code: 'archive_too_large' } as const;
    const file = await receiveUpload(ctx, arrival.count(sent.bytes), sent.declared, bounds);
    const { sha256, size } = file;
    path = file.path;
    const freed = await ctx.db.transaction(async (tx) => {
      const [row] = await tx.select().from(logArchives).where(its).for('update');
      if (row === undefined || row.answeredAt !== null) return [];
      if (size > 0) {
        await lockBytes(tx, sha256);
        await ctx.blobs.putFile(file.path, sha256);
      }
      const answer = size > 0 ? { sha256, size, form: sent.form } : {};
      await tx
        .update(logArchives)
        .set({ answeredAt: ctx.now, ...answer })
        .where(its);
      await recordAudit(tx, ctx, {
        action: 'logs.send',
        target: { kind: 'handler', id: row.handler },
        vmId,
        details: { size },
      });
      await recordChange(tx, 'output', vmId);
      await tell(tx, goalStatesChannel, [vmId]);
      const { rows } = await tx.execute<{ sha256: string }>(sql`
        delete from log_archives where vm_id = ${vmId} and id in (
          select id from (
            select id, sum(size) over newest as bytes, row_number() over newest as place from log_archives
              where vm_id = ${vmId} and sha256 is not null window newest as (order by id = ${archiveId} desc, id desc)
          ) a where place > ${kept} or (bytes > ${logs.vmBytes} and place > 1)
        ) returning sha256`);
      return rows.map((old) => old.sha256);
    });
    for (const old of freed) await removeUnusedBytes(ctx, old);
  } finally {
    arrival.end();
    if (path !== undefined) await rm(path, { force: true });
  }
}
