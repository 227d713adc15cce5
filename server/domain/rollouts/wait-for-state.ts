import { changesChannel } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { RolloutState } from '#server/domain/rollout-rules/words.ts';
import { waitUntil } from '#server/platform/wakes/index.ts';
import type { RolloutView } from './answers.ts';
import { readRollout } from './rows.ts';
import { showRollout } from './show-rollout.ts';

/**
 * Waits until a rollout has none of these states, at most this many seconds, and returns it. Returns `view` without
 * waiting if it has another state already.
 */
export async function showAfterWait(
  ctx: Context,
  view: RolloutView,
  states: readonly RolloutState[],
  seconds: number,
): Promise<RolloutView> {
  if (seconds === 0 || !states.includes(view.state)) return view;
  const { id } = view;
  await waitUntil(ctx.wakes, {
    channel: changesChannel,
    concerns: (payload) => payload.includes(id),
    isMet: async () => !states.includes((await readRollout(ctx.db, id)).state),
    seconds,
  });
  return showRollout(ctx, id);
}
