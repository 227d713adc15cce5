import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { isReachable } from '#server/platform/reachable.ts';
import { plainQuery, router } from '../trpc.ts';

/** Whether agents find their door, as far as the portal can tell from where it is. */
async function gatewayState(ctx: Context): Promise<{ away: boolean }> {
  allow(ctx.actor, 'viewer');
  return { away: !(await isReachable(`${ctx.config.gatewayUrl}/healthz`)) };
}

export const gatewayRouter = router({ state: plainQuery(gatewayState) });
