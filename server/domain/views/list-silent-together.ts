import { and, asc, between, count, eq, ne } from 'drizzle-orm';
import { agentPresence, vmHealth } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type SilentTogetherInput, silentTogetherInput } from './input.ts';

/**
 * Other unresponsive VMs whose agents last called within a minute of the last call of this VM's agent, which points to
 * a common cause.
 */
export interface SilentTogether {
  total: number;
  /** The first five of these VMs, sorted by name. */
  items: { id: string; name: string }[];
}

const minuteMs = 60_000;
const shown = 5;

/**
 * Lists other unresponsive VMs whose agents last called at about the same time; none if this VM's agent never called.
 */
export async function listSilentTogether(ctx: Context, input: SilentTogetherInput): Promise<SilentTogether> {
  allow(ctx.actor, 'viewer');
  const { vmId } = parse(silentTogetherInput, input);
  const [own] = await ctx.db
    .select({ at: agentPresence.lastSeenAt })
    .from(agentPresence)
    .where(eq(agentPresence.vmId, vmId));
  if (own === undefined) return { total: 0, items: [] };
  const isOther = and(
    eq(vmHealth.health, 'unresponsive'),
    ne(vmHealth.vmId, vmId),
    between(agentPresence.lastSeenAt, new Date(own.at.getTime() - minuteMs), new Date(own.at.getTime() + minuteMs)),
  );
  const joined = eq(agentPresence.vmId, vmHealth.vmId);
  const [[all], items] = await Promise.all([
    ctx.db.select({ total: count() }).from(vmHealth).innerJoin(agentPresence, joined).where(isOther),
    ctx.db
      .select({ id: vmHealth.vmId, name: vmHealth.name })
      .from(vmHealth)
      .innerJoin(agentPresence, joined)
      .where(isOther)
      .orderBy(asc(vmHealth.name))
      .limit(shown),
  ]);
  return { total: all?.total ?? 0, items };
}
