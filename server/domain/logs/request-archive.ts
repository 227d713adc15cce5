import { and, eq, gt, isNull } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import { agents, logArchives, vms } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { goalStatesChannel } from '#server/domain/goal-states/index.ts';
import { parse } from '#server/domain/parse.ts';
import { tell } from '#server/platform/wakes/index.ts';
import { type Archive, archiveOf, requestHours } from './archive.ts';
import { type RequestArchiveInput, requestArchiveInput } from './input.ts';

/**
 * Requests a handler's log folders from the VM's agent, for all versions and even after an uninstall (AZ-G11). Returns
 * the open request if there is one. Throws 404 `vm_unknown`, 409 `logs_not_supported` for a stock agent, which cannot
 * send log folders.
 */
export async function requestArchive(ctx: Context, input: RequestArchiveInput): Promise<Archive> {
  allow(ctx.actor, 'operator');
  const { vmId, handler } = parse(requestArchiveInput, input);
  return ctx.db.transaction(async (tx) => {
    const [vm] = await tx
      .select({ id: vms.id })
      .from(vms)
      .where(and(eq(vms.id, vmId), isNull(vms.deletedAt)))
      .for('no key update');
    if (vm === undefined) throw new DomainError('not_found', 'vm_unknown');
    const [agent] = await tx.select({ kind: agents.kind }).from(agents).where(eq(agents.vmId, vmId));
    if (agent?.kind === 'stock') throw new DomainError('conflict', 'logs_not_supported', { params: { handler } });
    const [open] = await tx
      .select()
      .from(logArchives)
      .where(
        and(
          eq(logArchives.vmId, vmId),
          eq(logArchives.handler, handler),
          isNull(logArchives.answeredAt),
          gt(logArchives.requestedAt, new Date(ctx.now.getTime() - requestHours * 3_600_000)),
        ),
      );
    if (open !== undefined) return archiveOf(open, ctx.now);
    const [row] = await tx
      .insert(logArchives)
      .values({ vmId, id: uuid(), handler, requestedAt: ctx.now, requestedBy: ctx.actor.name })
      .returning();
    if (row === undefined) throw new Error('the request was not written');
    await recordAudit(tx, ctx, { action: 'logs.request', target: { kind: 'handler', id: handler }, vmId });
    await recordChange(tx, 'output', vmId);
    // Wakes the agent's held poll.
    await tell(tx, goalStatesChannel, [vmId]);
    return archiveOf(row, ctx.now);
  });
}
