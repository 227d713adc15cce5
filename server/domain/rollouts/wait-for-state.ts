import { setTimeout as delay } from 'node:timers/promises';
import { changesChannel } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { RolloutState } from '#server/domain/rollout-rules/words.ts';
import type { RolloutView } from './answers.ts';
import { readRollout } from './rows.ts';
import { showRollout } from './show-rollout.ts';

/** Milliseconds after which the state is read again although no notification arrived. */
const recheckMs = 2_000;

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
  const until = performance.now() + seconds * 1_000;
  const { id } = view;
  let notified = Promise.withResolvers<void>();
  const listening = ctx.wakes.listen([changesChannel], {
    heard: (_, payload) => payload.includes(id) && notified.resolve(),
    lost: () => {},
    back: () => notified.resolve(),
  });
  try {
    for (;;) {
      const { state } = await readRollout(ctx.db, id);
      const leftMs = until - performance.now();
      if (!states.includes(state) || leftMs <= 0) return await showRollout(ctx, id);
      const slept = new AbortController();
      const pause = delay(Math.min(recheckMs, leftMs), undefined, { signal: slept.signal }).catch(() => {});
      await Promise.race([notified.promise, pause]);
      slept.abort();
      notified = Promise.withResolvers<void>();
    }
  } finally {
    await listening.close();
  }
}
