import type { AdvanceInput } from './advance-facts.ts';
import { openOf, queuedOf } from './counts.ts';
import { secondsAfter } from './step-times.ts';
import type { Reason } from './stored.ts';

const daySeconds = 86_400;

/** Members whose step is open or may begin. When the rollout closes, parked members that could begin stay parked. */
export const workOf = ({ rings }: AdvanceInput, isClosing = false): number =>
  rings.reduce(
    (sum, { size, counts, ready }) => sum + openOf(counts) + queuedOf(size, counts) + (isClosing ? 0 : ready),
    0,
  );

export const parkedIn = ({ rings }: AdvanceInput): number => rings.reduce((sum, { counts }) => sum + counts.parked, 0);

/** When a rollout that waits for parked members ends; null while newcomers join. */
export function keepEnd({ rollout, rings }: AdvanceInput): Date | null {
  const passed = rings.map(({ passedAt }) => passedAt?.getTime() ?? 0);
  if (rollout.state !== 'keeping' || rollout.newcomers === 'include') return null;
  return secondsAfter(new Date(Math.max(0, ...passed)), rollout.keepDays * daySeconds);
}

export const isOver = (input: AdvanceInput): boolean => {
  const end = keepEnd(input);
  return end !== null && end <= input.now;
};

export const keepingReasons = (input: AdvanceInput): Reason[] => {
  const end = keepEnd(input);
  const parked = parkedIn(input);
  return parked === 0 ? [] : [{ code: 'vms_parked', params: { parked }, ...(end && { at: end.toISOString() }) }];
};
