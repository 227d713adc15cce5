import { expect, test } from 'vitest';
import { zoneOffset } from '#app/_ui/zone-offset.ts';
import { domainOf, gridOf, periodToRequest, ranges, spans } from './span.ts';

const at = (time: string) => Date.parse(time);
const iso = (times: number[]) => times.map((time) => new Date(time).toISOString());

test.each(ranges)('%s: the current time is at 85 %%, and the request covers the whole range', (range) => {
  for (const now of [at('2026-03-29T00:59:59.999Z'), at('2026-11-21T05:20:00Z'), 1]) {
    const { from, to } = domainOf(range, now);
    expect((now - from) / (to - from)).toBeCloseTo(0.85);
    const period = periodToRequest(range, now);
    expect(period.from).toBeLessThanOrEqual(from);
    expect(period.to).toBeGreaterThan(now);
    expect(period.to - period.from).toBeLessThanOrEqual(8 * 86_400_000);
    // The same period is requested until the next quantum begins.
    const next = period.from + spans[range].past + spans[range].quantum;
    expect(periodToRequest(range, next - 1)).toEqual(period);
    expect(periodToRequest(range, next)).not.toEqual(period);
  }
});

test.each([
  ['Europe/Berlin', '2026-11-21T05:20:00Z', 1],
  ['Europe/Berlin', '2026-07-01T12:00:00Z', 2],
  ['America/St_Johns', '2026-01-01T00:00:00Z', -3.5],
  ['Asia/Kolkata', '2026-01-01T23:59:59.999Z', 5.5],
  ['UTC', '2026-01-01T00:00:00Z', 0],
])('the clock of %s at %s is %d h from UTC', (zone, time, hours) => {
  expect(zoneOffset(zone)(at(time))).toBe(hours * 3_600_000);
});

test('grid lines are at whole steps of the reader’s clock', () => {
  const kolkata = zoneOffset('Asia/Kolkata');
  expect(iso(gridOf('6h', at('2026-01-01T00:00:00Z'), at('2026-01-01T02:00:00Z'), kolkata))).toEqual([
    '2026-01-01T00:30:00.000Z',
    '2026-01-01T01:30:00.000Z',
  ]);
});

test('in a range of days, grid lines are at midnight, even when clocks change', () => {
  const berlin = zoneOffset('Europe/Berlin');
  expect(iso(gridOf('7d', at('2026-03-27T12:00:00Z'), at('2026-03-30T12:00:00Z'), berlin))).toEqual([
    '2026-03-27T23:00:00.000Z',
    '2026-03-28T23:00:00.000Z',
    '2026-03-29T22:00:00.000Z',
  ]);
});
