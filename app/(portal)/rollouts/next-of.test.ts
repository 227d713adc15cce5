import { expect, test } from 'vitest';
import { emptyCounts } from '#server/domain/rollout-rules/counts.ts';
import { nextOf } from './next-of.ts';

const counts = { ...emptyCounts(), queued: 0, members: 20 };
const row = { needsPerson: true, state: 'paused' as const, why: [], counts };

test.each([
  ['a rollout that continues without a person needs no act', { ...row, needsPerson: false }, null],
  ['failures are looked at first', { ...row, counts: { ...counts, failed: 2 } }, 'showFailed'],
  [
    'a plan that no longer fits is planned again',
    { ...row, state: 'planned' as const, why: [{ code: 'plan_moved_on' }] },
    'planAgain',
  ],
  [
    'a rejected plan is planned again',
    { ...row, state: 'planned' as const, why: [{ code: 'plan_rejected' }] },
    'planAgain',
  ],
  ['a plan that needs an approval is reviewed', { ...row, state: 'planned' as const }, 'reviewPlan'],
  ['a ring that needs an approval is reviewed', { ...row, state: 'running' as const }, 'reviewRing'],
  ['a paused rollout without failures is reviewed', row, 'review'],
])('%s', (_, rollout, expected) => {
  expect(nextOf(rollout, true)).toBe(expected);
});

test('viewers can only look at failures', () => {
  expect(nextOf({ ...row, counts: { ...counts, failed: 2 } }, false)).toBe('showFailed');
  expect(nextOf(row, false)).toBeNull();
});
