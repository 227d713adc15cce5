import type { FailingHook, Resolution } from '#server/domain/service-rules/stored.ts';
import type { FailingHookState, HookReasonText } from './service-state.ts';

/** Returns a hook that fails with what an operator decided about it, and its reason. */
export const failingState = (
  { remoteUnit, ...failure }: FailingHook,
  resolutions: readonly Resolution[],
  reasons: ReadonlyMap<string, HookReasonText>,
): FailingHookState => ({
  ...failure,
  remoteUnit: remoteUnit ?? null,
  resolution: resolutions.find(({ run }) => run === failure.run)?.how ?? null,
  reason: reasons.get(failure.run) ?? null,
});
