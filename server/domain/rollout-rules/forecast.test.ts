import { expect, test } from 'vitest';
import { type ForecastRing, forecast } from './forecast.ts';
import { gates, later, start } from './testing/facts.ts';

const ring = (changes: Partial<ForecastRing> = {}): ForecastRing => ({
  size: 100,
  left: 100,
  gates: gates({ inFlight: { count: 10 }, soakSeconds: 300, bakeSeconds: 1_800 }),
  windows: [],
  longestSeconds: 600,
  ...changes,
});
const span = (rings: ForecastRing[], stepsPerSecond = 100) => forecast(rings, { stepsPerSecond, from: start });

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

test('a ramp that has healthy members goes on from them', () => {
  const ramp = gates({ inFlight: { count: 10 }, ramp: true, soakSeconds: 0 });
  // Of 100 members, 80 are healthy, so that 10 may be in flight immediately.
  expect(span([ring({ gates: ramp, left: 20 })])?.from).toEqual(later(2 * 10));
  expect(span([ring({ gates: ramp, size: 20, left: 20 })])?.from).toEqual(later(5 * 10));
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
