import { and, eq, isNull } from 'drizzle-orm';
import { type AgentObservation, agents, stockAgents, vms } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type GetWireAccessInput, getWireAccessInput } from './input.ts';

/** The state of a VM's stock agent. */
export interface StockAgent {
  containerId: string;
  grantedAt: string;
  grantedBy: string;
  /** Null until its first status. */
  version: string | null;
  tenantCertificate: { thumbprint: string; madeAt: string };
  /** The last transport certificate for which the tenant key was wrapped; the agent creates a new one at each start. */
  transportCertificate: { thumbprint: string; seenAt: string } | null;
  /** The incarnation last delivered, numbered like goal states. */
  seen: { incarnation: number; at: string } | null;
  /** The incarnation last completed; `message` if the agent added one. */
  settled: { incarnation: number; at: string; status: string; message: string | null } | null;
  /** Since when it processes nothing, and who set the hold; null if it is not on hold. */
  hold: { at: string; by: string } | null;
  /** What it reported as not healthy, including what recovered since. */
  observations: AgentObservation[];
}

/** The kind of a VM's agent, and the stock agent's state. */
export interface WireAccess {
  /** Whether this portal serves stock agents (`ANNEX_WIRE`). */
  isOpen: boolean;
  /** `none`: neither has enrolled, and the VM can switch to stock mode. */
  agent: 'none' | 'reference' | 'stock';
  stock: StockAgent | null;
}

/** Reads the stock agent access of a VM. Throws 404 `vm_unknown`. */
export async function getWireAccess(ctx: Context, input: GetWireAccessInput): Promise<WireAccess> {
  allow(ctx.actor, 'viewer');
  const { vmId } = parse(getWireAccessInput, input);
  const [row] = await ctx.db
    .select({ agent: agents, stock: stockAgents })
    .from(vms)
    .leftJoin(agents, eq(agents.vmId, vms.id))
    .leftJoin(stockAgents, eq(stockAgents.vmId, vms.id))
    .where(and(eq(vms.id, vmId), isNull(vms.deletedAt)));
  if (row === undefined) throw new DomainError('not_found', 'vm_unknown');
  const { agent, stock } = row;
  const isOpen = ctx.config.wire;
  if (agent === null || stock === null) return { isOpen, agent: agent?.kind ?? 'none', stock: null };
  return { isOpen, agent: 'stock', stock: stockAgentOf(agent, stock) };
}

function stockAgentOf(agent: typeof agents.$inferSelect, stock: typeof stockAgents.$inferSelect): StockAgent {
  const { transportThumbprint, transportAt, incarnationAt, settledIncarnation, settledAt, settledStatus, heldAt } =
    stock;
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
    hold: heldAt && { at: heldAt.toISOString(), by: stock.heldBy ?? '' },
    observations: stock.observations,
  };
}
