import { expect, test } from 'vitest';
import { ringMarks } from './ring-marks.ts';

const at = (day: number, hour = 0) => new Date(Date.UTC(2026, 0, day, hour));
const axis = { from: at(1), to: at(61) };
const opening = (ring: string, when: Date) => ({
  rollout: { id: 'r1', name: 'probe 1.1' },
  ring,
  at: when.toISOString(),
});

test('rings that opened far apart have their own marks, from left to right', () => {
  const marks = ringMarks([opening('tenth', at(31)), opening('canary', at(16))], axis);
  expect(marks.map(({ share, openings }) => [share, openings.map(({ ring }) => ring)])).toEqual([
    [0.25, ['canary']],
    [0.5, ['tenth']],
  ]);
});

test('rings that opened close together share a mark, at the first of them', () => {
  const marks = ringMarks([opening('all', at(31, 9)), opening('tenth', at(31, 3)), opening('canary', at(31))], axis);
  expect(marks).toMatchObject([{ share: 0.5, openings: [{ ring: 'canary' }, { ring: 'tenth' }, { ring: 'all' }] }]);
});

test('openings outside the axis have no mark', () => {
  expect(ringMarks([opening('canary', at(1, -1)), opening('tenth', at(62))], axis)).toEqual([]);
  expect(ringMarks([opening('canary', axis.from), opening('tenth', axis.to)], axis)).toHaveLength(2);
});
