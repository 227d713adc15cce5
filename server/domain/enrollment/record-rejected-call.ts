import { and, eq } from 'drizzle-orm';
import { agentRefusals } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { type RefusalCode, showRejection } from '#server/domain/vms/index.ts';

const minuteMs = 60_000;

/**
 * Stores a rejected call for the VM's page. The activity log records only the first call of a series, so that an agent
 * that is rejected for days does not fill the log. A series consists of calls with the same code and at most an hour
 * between two calls.
 */
export async function recordRejectedCall(ctx: Context, vmId: string, code: RefusalCode): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    const [before] = await tx
      .select({ at: agentRefusals.at })
      .from(agentRefusals)
      .where(and(eq(agentRefusals.vmId, vmId), eq(agentRefusals.code, code)))
      .for('update');
    await showRejection(tx, vmId, code, ctx.now);
    if (before === undefined || ctx.now.getTime() - before.at.getTime() > 60 * minuteMs) {
      await recordAudit(tx, ctx, {
        action: 'agent.reject',
        target: { kind: 'vm', id: vmId },
        vmId,
        details: { reason: code },
      });
    }
  });
}
