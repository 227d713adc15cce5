import { expect, test } from 'vitest';
import type { SentRing } from './definition.ts';
import { editFreedom } from './edit-freedom.ts';

const rings: SentRing[] = [
  { name: 'first', upTo: { count: 5 } },
  { name: 'tenth', upTo: { percent: 10 } },
  { name: 'half', upTo: { percent: 50 }, approval: true },
  { name: 'rest', upTo: { percent: 100 } },
];
const states = ['open', 'waiting', 'waiting', 'waiting'] as const;
const stored = (state: 'running' | 'paused') => ({ state, rings: states.map((ring) => ({ state: ring })) });

test('RO-34 while a rollout is paused, boundaries of rings that have not opened can move in the form', () => {
  expect(editFreedom(stored('paused'), rings)).toEqual({
    isPaused: true,
    canMove: [false, true, true, false],
    canAskApproval: [true, true, true, true],
  });
});

test('RO-34 a filter of a ring keeps the boundaries next to it', () => {
  const filtered = rings.map((ring, index) =>
    index === 2 ? { ...ring, filter: { tags: [{ name: 'env', value: 'prod' }] } } : ring,
  );
  expect(editFreedom(stored('paused'), filtered).canMove).toEqual([false, false, false, false]);
});

test('RO-34 in a running rollout, only rings that have not opened and have no approval can be given one', () => {
  expect(editFreedom(stored('running'), rings)).toEqual({
    isPaused: false,
    canMove: [false, false, false, false],
    canAskApproval: [false, true, false, true],
  });
});
