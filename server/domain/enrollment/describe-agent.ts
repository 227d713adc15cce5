import { and, eq, ne, or } from 'drizzle-orm';
import { agents } from '#db/schema/index.ts';
import { type AgentDescription, agentDescription } from '#protocol/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';

/** Stores the name and version of a VM's reference agent, which change when the agent is updated. */
export async function describeAgent(ctx: Context, vmId: string, input: AgentDescription): Promise<void> {
  const { name, version } = parse(agentDescription, input);
  await ctx.db.transaction(async (tx) => {
    const [before] = await tx.select().from(agents).where(eq(agents.vmId, vmId)).for('update');
    const isOther = or(ne(agents.name, name), ne(agents.version, version));
    const changed = await tx
      .update(agents)
      .set({ name, version })
      .where(and(eq(agents.vmId, vmId), eq(agents.kind, 'reference'), isOther))
      .returning({ vmId: agents.vmId });
    if (before === undefined || changed.length === 0) return;
    await recordAudit(tx, ctx, {
      action: 'agent.update',
      target: { kind: 'vm', id: vmId },
      vmId,
      before: { agent: { name: before.name, version: before.version } },
      after: { agent: { name, version } },
      details: { name, version },
    });
    await recordChange(tx, 'vm', vmId);
  });
}
