import type { Transaction } from '#db/client.ts';
import { auditEntries } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';

/** One act as people read it later. `details` never holds a protected value, only whether it changed. */
export interface Act {
  /** `<noun>.<verb>`, for example `extension.set`. */
  action: string;
  target: { kind: string; id: string };
  vmId?: string;
  details?: Record<string, unknown>;
}

/** Writes the act into the caller's transaction, so that what was done and that it was done commit together. */
export async function recordAudit(tx: Transaction, ctx: Context, act: Act): Promise<void> {
  await tx.insert(auditEntries).values({
    at: ctx.now,
    actorKind: ctx.actor.kind,
    actorId: ctx.actor.id,
    actorName: ctx.actor.name,
    action: act.action,
    targetKind: act.target.kind,
    targetId: act.target.id,
    vmId: act.vmId ?? null,
    requestId: ctx.requestId,
    details: act.details ?? {},
  });
}
