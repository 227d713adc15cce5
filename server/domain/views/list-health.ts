import { inArray } from 'drizzle-orm';
import { agentPresence, extensions } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { derive, selectExtensions } from '#server/domain/health/index.ts';
import {
  type AgentStatus,
  agentStatus,
  type ExtensionHealth,
  type VmHealth,
  vmHealth,
} from '#server/domain/reports/index.ts';

export interface VmHealthSummary {
  health: VmHealth;
  agent: { status: AgentStatus; lastSeenAt: string | null };
  extensions: {
    name: string;
    handler: string;
    health: ExtensionHealth;
    /** It is progressing only in that it waits for this other extension. */
    waitsFor: string | null;
  }[];
}

/** The health of many VMs in two queries, for lists; a VM that is not there counts as one never seen. */
export async function listHealth(ctx: Context, vmIds: readonly string[]): Promise<Map<string, VmHealthSummary>> {
  allow(ctx.actor, 'viewer');
  if (vmIds.length === 0) return new Map();
  const ids = [...vmIds];
  const presences = await ctx.db.select().from(agentPresence).where(inArray(agentPresence.vmId, ids));
  const presenceOf = new Map(presences.map((row) => [row.vmId, row]));
  const summaries = new Map<string, VmHealthSummary>();
  for (const vmId of ids) {
    const presence = presenceOf.get(vmId) ?? null;
    const agent = { status: agentStatus(presence, ctx.now), lastSeenAt: presence?.lastSeenAt.toISOString() ?? null };
    summaries.set(vmId, { health: 'unknown', agent, extensions: [] });
  }
  for (const facts of await selectExtensions(ctx.db, inArray(extensions.vmId, ids))) {
    const { vmId, name, handler } = facts;
    const summary = summaries.get(vmId);
    if (summary === undefined) continue;
    const { heartbeatSeconds = null, statusSeconds = null } = presenceOf.get(vmId) ?? {};
    const { health } = derive(facts, { status: summary.agent.status, heartbeatSeconds, statusSeconds }, ctx.now);
    const waitsFor = health === 'progressing' ? (facts.handlerState?.blockedBy ?? null) : null;
    summary.extensions.push({ name, handler, health, waitsFor });
  }
  for (const summary of summaries.values()) {
    const health = summary.extensions.map((extension) => extension.health);
    summary.health = vmHealth(summary.agent.status, health);
  }
  return summaries;
}
