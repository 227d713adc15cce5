import { and, eq, isNull } from 'drizzle-orm';
import { z } from 'zod';
import { agents, holds, stockAgents, vms } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count, time } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { type Hold, hold, holdOf } from '#server/domain/holds/index.ts';
import { parse } from '#server/domain/parse.ts';
import { type GetWireAccessInput, getWireAccessInput } from './input.ts';

/** The state of a VM's stock agent. */
export const stockAgent = z.object({
  containerId: z.string(),
  grantedAt: time,
  grantedBy: z.string(),
  /** Null until the agent's first status. */
  version: z.string().nullable(),
  tenantCertificate: z.object({ thumbprint: z.string(), madeAt: time }),
  /**
   * The certificate for which the agent last requested the tenant key. The agent creates another certificate at each
   * start.
   */
  transportCertificate: z.object({ thumbprint: z.string(), seenAt: time }).nullable(),
  /** The incarnation of the goal state that the agent last received. */
  seen: z.object({ incarnation: count, at: time }).nullable(),
  /** The incarnation that the agent last completed; `message` is null if there is nothing to add to the status. */
  settled: z.object({ incarnation: count, at: time, status: z.string(), message: z.string().nullable() }).nullable(),
  /** When the hold began, who last set or changed it, why, and when it ends; null if the agent is not on hold. */
  hold: hold.pick({ reason: true, until: true }).extend({ at: time, by: z.string() }).nullable(),
  /** What the agent reported as unhealthy, including what has recovered since. */
  observations: z.array(
    z.object({ name: z.string(), text: z.string().nullable(), since: time, until: time.nullable() }),
  ),
});
export type StockAgent = z.infer<typeof stockAgent>;

/** Which kind of agent a VM has, and the state of its stock agent. */
export const wireAccess = z.object({
  /** Whether stock agents can connect to this portal (`ANNEX_WIRE`). */
  isOpen: z.boolean(),
  /** `none`: the VM has no agent yet, so it can be set to stock mode. */
  agent: z.enum(['none', 'reference', 'stock']),
  stock: stockAgent.nullable(),
});
export type WireAccess = z.infer<typeof wireAccess>;

/** Reads the stock agent access of a VM. Throws 404 `vm_unknown`. */
export async function getWireAccess(ctx: Context, input: GetWireAccessInput): Promise<WireAccess> {
  allow(ctx.actor, 'viewer');
  const { vmId } = parse(getWireAccessInput, input);
  const [row] = await ctx.db
    .select({ agent: agents, stock: stockAgents, held: holds })
    .from(vms)
    .leftJoin(agents, eq(agents.vmId, vms.id))
    .leftJoin(stockAgents, eq(stockAgents.vmId, vms.id))
    .leftJoin(holds, eq(holds.vmId, vms.id))
    .where(and(eq(vms.id, vmId), isNull(vms.deletedAt)));
  if (row === undefined) throw new DomainError('not_found', 'vm_unknown');
  const { agent, stock, held } = row;
  const isOpen = ctx.config.wire;
  if (agent === null || stock === null) return { isOpen, agent: agent?.kind ?? 'none', stock: null };
  return { isOpen, agent: 'stock', stock: stockAgentOf(agent, stock, holdOf(held)) };
}

function stockAgentOf(
  agent: typeof agents.$inferSelect,
  stock: typeof stockAgents.$inferSelect,
  held: Hold | null,
): StockAgent {
  const { transportThumbprint, transportAt, incarnationAt, settledIncarnation, settledAt, settledStatus } = stock;
  return {
    containerId: stock.containerId,
    grantedAt: stock.grantedAt.toISOString(),
    grantedBy: stock.grantedBy,
    version: agent.version || null,
    tenantCertificate: { thumbprint: agent.thumbprint, madeAt: stock.tenantKeyAt.toISOString() },
    transportCertificate:
      transportThumbprint === null || transportAt === null
        ? null
        : { thumbprint: transportThumbprint, seenAt: transportAt.toISOString() },
    seen: incarnationAt && { incarnation: stock.incarnation, at: incarnationAt.toISOString() },
    settled:
      settledIncarnation === null || settledAt === null
        ? null
        : {
            incarnation: settledIncarnation,
            at: settledAt.toISOString(),
            status: settledStatus ?? '',
            message: stock.settledMessage,
          },
    hold: held && { at: held.heldAt, by: held.heldBy, reason: held.reason, until: held.until },
    observations: stock.observations,
  };
}
