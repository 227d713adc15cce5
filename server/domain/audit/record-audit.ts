import type { Transaction } from '#db/client.ts';
import { auditEntries } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { Act } from './act.ts';
import { bounded } from './bounded.ts';
import { sealOf } from './seal.ts';

/**
 * Writes the act into the caller's transaction, so that what was done and that it was done commit together. The worker
 * links it into the chain afterwards: writers do not wait for each other here.
 */
export async function recordAudit(tx: Transaction, ctx: Context, act: Act): Promise<void> {
  const row = {
    at: ctx.now,
    actorKind: ctx.actor.kind,
    actorId: ctx.actor.id,
    actorName: ctx.actor.name,
    door: ctx.origin.door,
    address: ctx.origin.address,
    client: ctx.origin.client?.slice(0, 300) ?? null,
    action: act.action,
    targetKind: act.target.kind,
    targetId: act.target.id,
    vmId: act.vmId ?? null,
    requestId: ctx.requestId,
    details: bounded(act.details) ?? {},
    before: bounded(act.before),
    after: bounded(act.after),
  };
  await tx.insert(auditEntries).values({ ...row, seal: sealOf(ctx.keys.audit, row) });
}
