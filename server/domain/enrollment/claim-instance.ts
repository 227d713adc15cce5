import { and, eq, isNull, or, sql } from 'drizzle-orm';
import { agents } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';

/**
 * Binds a credential to the first machine that uses it. Returns false if another machine was first, or if the
 * credential is no longer valid.
 */
export async function claimInstance(ctx: Context, credentialHash: string, instanceId: string): Promise<boolean> {
  const claimed = await ctx.db
    .update(agents)
    .set({ instanceId })
    .where(
      and(eq(agents.credentialHash, credentialHash), or(isNull(agents.instanceId), eq(agents.instanceId, instanceId))),
    )
    .returning({ vmId: agents.vmId });
  return claimed.length > 0;
}

/**
 * Records a second machine with this VM's identity, at most once a minute. The caller rejects the call, unless the VM
 * has a stock agent.
 */
export async function noteDuplicate(
  ctx: Context,
  vmId: string,
  action: 'agent.duplicate' | 'wire-access.duplicate' = 'agent.duplicate',
): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    const noted = await tx
      .update(agents)
      .set({ duplicateSeenAt: ctx.now })
      .where(
        and(
          eq(agents.vmId, vmId),
          or(
            isNull(agents.duplicateSeenAt),
            sql`${agents.duplicateSeenAt} < ${ctx.now}::timestamptz - interval '1 minute'`,
          ),
        ),
      )
      .returning({ vmId: agents.vmId });
    if (noted.length === 0) return;
    await recordAudit(tx, ctx, { action, target: { kind: 'vm', id: vmId }, vmId });
    await recordChange(tx, 'vm', vmId);
  });
}
