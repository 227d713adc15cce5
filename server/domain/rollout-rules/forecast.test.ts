import { describe, expect, test } from 'vitest';
import { type ForecastRing, forecast } from './forecast.ts';
import type { Freeze } from './stored.ts';
import { gates, later, start } from './testing/facts.ts';

const ring = (changes: Partial<ForecastRing> = {}): ForecastRing => ({
  size: 100,
  left: 100,
  gates: gates({ inFlight: { count: 10 }, soakSeconds: 300, bakeSeconds: 1_800 }),
  windows: [],
  longestSeconds: 600,
  longestSet: 0,
  ...changes,
});
const span = (rings: ForecastRing[], stepsPerSecond = 100, freezes: Freeze[] = []) =>
  forecast(rings, { stepsPerSecond, from: start, freezes, rollout: { id: 'a', kind: 'rollout' } });

test('a ring takes as many rounds as its limit demands, and its soak', () => {
  expect(span([ring()])).toEqual({ from: later(10 * 10 + 300), to: later(10 * 120 + 300) });
});

test('a ramp takes more rounds: 1, 2, 4, 8 and then 10 at a time', () => {
  const ramp = gates({ inFlight: { count: 10 }, ramp: true, soakSeconds: 0 });
  expect(span([ring({ gates: ramp })])?.from).toEqual(later((4 + 9) * 10));
});

test('the bake comes between rings, and not after the last one', () => {
  expect(span([ring(), ring()])?.from).toEqual(later(2 * 400 + 1_800));
  expect(span([ring({ left: 0 }), ring()])?.from).toEqual(later(400));
});

test('the rate limits large rings', () => {
  const large = ring({ size: 100_000, left: 100_000, gates: gates({ inFlight: { count: 20_000 }, soakSeconds: 0 }) });
  expect(span([large], 100)?.from).toEqual(later(1_010));
});

test('RO-35 a ring waits for its window, and without one into which a step fits there is no forecast', () => {
  const windows = [{ days: ['mon' as const], from: '22:00', to: '23:00', timeZone: 'UTC' }];
  expect(span([ring({ windows })])?.from).toEqual(new Date('2026-07-06T22:06:40Z'));
  expect(span([ring({ windows, longestSeconds: 3_601 })])).toBeNull();
});

test('commands usually take a fifth of their timeouts, and at least a minute', () => {
  const one = { size: 1, left: 1, gates: gates({ inFlight: { count: 1 }, soakSeconds: 0 }) };
  expect(span([ring({ ...one, longestSeconds: 3_600 })])).toEqual({ from: later(11), to: later(721) });
  expect(span([ring({ ...one, longestSeconds: 20 })])?.to).toEqual(later(61));
});

test('a ramp that has healthy members continues from them', () => {
  const ramp = gates({ inFlight: { count: 10 }, ramp: true, soakSeconds: 0 });
  // Of 100 members, 80 are healthy, so that 10 may be in flight immediately.
  expect(span([ring({ gates: ramp, left: 20 })])?.from).toEqual(later(2 * 10));
  expect(span([ring({ gates: ramp, size: 20, left: 20 })])?.from).toEqual(later(5 * 10));
});

test('more members than planned are left if VMs joined later', () => {
  const ramp = gates({ inFlight: { count: 10 }, ramp: true, soakSeconds: 0 });
  expect(span([ring({ gates: ramp, size: 0, left: 20 })])?.from).toEqual(later(5 * 10));
});

test('nothing is left to forecast when every member succeeded', () => {
  expect(span([])).toEqual({ from: start, to: start });
  expect(span([ring({ left: 0 }), ring({ left: 0 })])).toEqual({ from: start, to: start });
});

test('RO-35 a later ring waits for its window too, after the bake of the earlier one', () => {
  const windows = [{ days: ['tue' as const], from: '02:00', to: '03:00', timeZone: 'UTC' }];
  const end = new Date('2026-07-07T02:06:40Z');
  expect(span([ring(), ring({ windows })])?.from).toEqual(end);
  const long = gates({ inFlight: { count: 10 }, soakSeconds: 300, bakeSeconds: 86_400 });
  const week = new Date('2026-07-14T02:06:40Z');
  expect(span([ring({ gates: long }), ring({ windows })])?.from).toEqual(week);
});

test('RO-15 members of one availability set are changed one after the other, each with its soak', () => {
  const few = { size: 10, left: 10, gates: gates({ inFlight: { count: 10 }, soakSeconds: 300 }) };
  expect(span([ring(few)])?.from).toEqual(later(11 + 300));
  expect(span([ring({ ...few, longestSet: 4 })])).toEqual({ from: later(4 * 310), to: later(4 * 420) });
  expect(span([ring({ ...few, longestSet: 1 })])?.from).toEqual(span([ring(few)])?.from);
});

describe('RO-36 a freeze', () => {
  const freeze = (from: number, to: number, exempt: string[] = []): Freeze => ({
    ...{ from: later(from).toISOString(), to: later(to).toISOString(), reason: 'year end', exempt },
  });

  test('at the start delays the rollout', () => {
    expect(span([ring()], 100, [freeze(-60, 500)])?.from).toEqual(later(500 + 400));
  });

  test('after the start interrupts the beginning of members, and not their soak', () => {
    expect(span([ring()], 100, [freeze(50, 1_050)])?.from).toEqual(later(1_000 + 400));
    expect(span([ring()], 100, [freeze(150, 1_050)])?.from).toEqual(later(400));
    expect(span([ring()], 100, [freeze(50, 60), freeze(80, 100)])?.from).toEqual(later(30 + 400));
  });

  test('before a later ring delays that ring', () => {
    const alone = span([ring(), ring()])?.from.getTime() ?? 0;
    expect(span([ring(), ring()], 100, [freeze(2_000, 3_000)])?.from).toEqual(new Date(alone + 800_000));
  });

  test('counts for no rollout that is exempt', () => {
    expect(span([ring()], 100, [freeze(-60, 500, ['a'])])?.from).toEqual(later(400));
  });
});
