import { expect, test } from 'vitest';
import { rangeOf, withRange } from './presets.ts';

const at = (now: string, timeZone = 'UTC') => ({ now: Date.parse(now), timeZone, lastVisit: null });

test.each([
  ['in the morning', '2026-03-04T09:00:00Z', 'UTC', '2026-03-03T18:00:00.000Z', '2026-03-04T08:00:00.000Z'],
  ['during the night', '2026-03-04T03:00:00Z', 'UTC', '2026-03-03T18:00:00.000Z', '2026-03-04T08:00:00.000Z'],
  ['in the evening', '2026-03-04T22:00:00Z', 'UTC', '2026-03-03T18:00:00.000Z', '2026-03-04T08:00:00.000Z'],
  ['in Berlin', '2026-03-04T09:00:00Z', 'Europe/Berlin', '2026-03-03T17:00:00.000Z', '2026-03-04T07:00:00.000Z'],
  ['in Tokyo', '2026-03-04T23:30:00Z', 'Asia/Tokyo', '2026-03-04T09:00:00.000Z', '2026-03-04T23:00:00.000Z'],
  [
    'when clocks go forward',
    '2026-03-29T09:00:00Z',
    'Europe/Berlin',
    '2026-03-28T17:00:00.000Z',
    '2026-03-29T06:00:00.000Z',
  ],
  [
    'when clocks go back',
    '2026-10-25T09:00:00Z',
    'Europe/Berlin',
    '2026-10-24T16:00:00.000Z',
    '2026-10-25T07:00:00.000Z',
  ],
])('the last night, %s', (_, now, timeZone, from, to) => {
  expect(rangeOf('night', at(now, timeZone))).toEqual({ from, to });
});

test('the last 24 hours and the last visit have no end; a first visit has no range', () => {
  const basis = at('2026-03-04T09:00:00Z');
  expect(rangeOf('day', basis)).toEqual({ from: '2026-03-03T09:00:00.000Z' });
  expect(rangeOf('visit', basis)).toBeNull();
  const lastVisit = new Date('2026-03-01T00:00:00Z');
  expect(rangeOf('visit', { ...basis, lastVisit })).toEqual({ from: lastVisit.toISOString() });
  expect(withRange({ q: 'a', since: 'visit' }, basis)).toEqual({ q: 'a' });
  expect(withRange({ q: 'a', since: 'day' }, basis)).toEqual({ q: 'a', from: '2026-03-03T09:00:00.000Z' });
});
