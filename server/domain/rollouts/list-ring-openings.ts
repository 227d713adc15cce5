import { and, desc, eq, gte } from 'drizzle-orm';
import { rolloutRings, rollouts } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type RingOpeningsInput, ringOpeningsInput } from './input.ts';

/** A ring of a rollout, and when it opened. */
export interface RingOpening {
  rollout: { id: string; name: string };
  ring: string;
  at: string;
}

/** Maximum number of openings in the answer; the latest are kept. */
const most = 200;

/** Lists when rings of a handler's rollouts opened, since a moment, the latest first. */
export async function listRingOpenings(ctx: Context, input: RingOpeningsInput): Promise<{ items: RingOpening[] }> {
  allow(ctx.actor, 'viewer');
  const { handler, from } = parse(ringOpeningsInput, input);
  const { ring, openedAt } = rolloutRings;
  const rows = await ctx.db
    .select({ id: rollouts.id, name: rollouts.name, definition: rollouts.definition, ring, openedAt })
    .from(rollouts)
    .innerJoin(rolloutRings, eq(rolloutRings.rolloutId, rollouts.id))
    .where(and(eq(rollouts.handler, handler), gte(openedAt, new Date(from))))
    .orderBy(desc(openedAt), desc(ring))
    .limit(most);
  return {
    items: rows.map(({ id, name, definition, ring, openedAt }) => ({
      rollout: { id, name },
      ring: definition.rings[ring]?.name ?? '',
      at: (openedAt ?? ctx.now).toISOString(),
    })),
  };
}
