import { and, eq } from 'drizzle-orm';
import { LRUCache } from 'lru-cache';
import { agentRefusals } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { type RefusalCode, showRefusal } from '#server/domain/vms/index.ts';

const minuteMs = 60_000;

/** VMs and codes that this process noted within the last minute: an agent that goes on costs no statement. */
const noted = new LRUCache<string, Date>({ max: 10_000 });

/** Notes that a call was rejected: for the VM's page once a minute, in the activity once an hour. */
export async function noteRefusal(ctx: Context, vmId: string, code: RefusalCode): Promise<void> {
  const key = `${vmId} ${code}`;
  const last = noted.get(key);
  if (last !== undefined && Math.abs(ctx.now.getTime() - last.getTime()) < minuteMs) return;
  noted.set(key, ctx.now);
  await ctx.db.transaction(async (tx) => {
    const [before] = await tx
      .select({ at: agentRefusals.at })
      .from(agentRefusals)
      .where(and(eq(agentRefusals.vmId, vmId), eq(agentRefusals.code, code)))
      .for('update');
    await showRefusal(tx, vmId, code, ctx.now);
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
