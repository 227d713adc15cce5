import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { slot } from '#server/platform/process-memory.ts';
import { Reachability } from '#server/platform/reachable.ts';
import { plainQuery, router } from '../trpc.ts';

const reachability = slot(() => new Reachability());

/** Checks whether the portal can reach the gateway's URL. */
async function gatewayState(ctx: Context): Promise<{ away: boolean }> {
  allow(ctx.actor, 'viewer');
  return { away: !(await ctx.memory.of(reachability).check(`${ctx.config.gatewayUrl}/healthz`)) };
}

export const gatewayRouter = router({ state: plainQuery(gatewayState) });
