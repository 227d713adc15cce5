import { and, asc, desc, eq, ilike, inArray, isNull, or, sql } from 'drizzle-orm';
import { z } from 'zod';
import { handlers, models, publishers, rollouts, vmHealth, vms } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { endedStates, type RolloutState } from '#server/domain/rollout-rules/words.ts';
import type { VmHealth } from '#server/domain/verdicts/index.ts';
import { type SearchInput, searchInput } from './input.ts';

/** Search results: at most eight of each kind, prefix matches first. */
export interface SearchResults {
  /** `health` is null until the worker derives it, about a second after the VM is created. */
  vms: { id: string; name: string; health: VmHealth | null }[];
  models: { name: string; location: string }[];
  handlers: { handler: string; publisher: string }[];
  rollouts: { id: string; name: string; state: RolloutState }[];
}

const most = 8;
const wholeId = z.uuid();

/**
 * Finds VMs and rollouts by a part of their name or by their complete id, VMs also by their instance id, models by a part
 * of their name, and handlers by a part of their id or of their publisher's name. Rollouts that have not ended come
 * first.
 */
export async function findByName(ctx: Context, input: SearchInput): Promise<SearchResults> {
  allow(ctx.actor, 'viewer');
  const { q } = parse(searchInput, input);
  const part = q.replaceAll(/[\\%_]/g, '\\$&');
  const named = sql`lower(${vms.name}) like lower(${`%${part}%`})`;
  const isMeant = wholeId.safeParse(q).success ? or(named, eq(vms.id, q)) : or(named, eq(vms.instanceId, q));
  const isNamed = ilike(rollouts.name, `%${part}%`);
  const [foundVms, foundModels, foundHandlers, foundRollouts] = await Promise.all([
    ctx.db
      .select({ id: vms.id, name: vms.name, health: vmHealth.health })
      .from(vms)
      .leftJoin(vmHealth, eq(vmHealth.vmId, vms.id))
      .where(and(isNull(vms.deletedAt), isMeant))
      .orderBy(desc(ilike(vms.name, `${part}%`)), asc(vms.name))
      .limit(most),
    ctx.db
      .select({ name: models.name, location: models.location })
      .from(models)
      .where(and(isNull(models.removedAt), ilike(models.name, `%${part}%`)))
      .orderBy(desc(ilike(models.name, `${part}%`)), asc(models.name))
      .limit(most),
    ctx.db
      .select({ handler: handlers.id, publisher: publishers.displayName })
      .from(handlers)
      .innerJoin(publishers, eq(publishers.namespace, handlers.namespace))
      .where(or(ilike(handlers.id, `%${part}%`), ilike(publishers.displayName, `%${part}%`)))
      .orderBy(desc(ilike(handlers.type, `${part}%`)), asc(handlers.id))
      .limit(most),
    ctx.db
      .select({ id: rollouts.id, name: rollouts.name, state: rollouts.state })
      .from(rollouts)
      .where(wholeId.safeParse(q).success ? or(isNamed, eq(rollouts.id, q)) : isNamed)
      .orderBy(
        inArray(rollouts.state, [...endedStates]),
        desc(ilike(rollouts.name, `${part}%`)),
        desc(rollouts.createdAt),
      )
      .limit(most),
  ]);
  return { vms: foundVms, models: foundModels, handlers: foundHandlers, rollouts: foundRollouts };
}
