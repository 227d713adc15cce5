import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SharedReadings } from './shared-readings.ts';

let readings: SharedReadings;
let begun: number;

beforeEach(() => {
  readings = new SharedReadings();
  begun = 0;
});
afterEach(() => vi.restoreAllMocks());

/** Returns a `read` function, and `finish`, which ends the oldest reading that has not ended. */
function gated() {
  const gates: (() => void)[] = [];
  const read = () => {
    begun += 1;
    const answer = begun;
    return new Promise<number>((resolve) => gates.push(() => resolve(answer)));
  };
  return { read, finish: () => gates.shift()?.() };
}

test('calls in the same turn share a reading, and calls during that reading share the next one', async () => {
  const { read, finish } = gated();
  const first = [readings.share('k', read), readings.share('k', read)];
  await vi.waitFor(() => expect(begun).toBe(1));
  const later = [readings.share('k', read), readings.share('k', read)];
  finish();
  expect(await Promise.all(first)).toEqual([1, 1]);
  await vi.waitFor(() => expect(begun).toBe(2));
  finish();
  expect(await Promise.all(later)).toEqual([2, 2]);
});

test('a failed reading fails its callers, but not later callers', async () => {
  const fails = readings.share('k', async () => {
    throw new Error('no');
  });
  await expect(fails).rejects.toThrow('no');
  expect(await readings.share('k', async () => 'yes')).toBe('yes');
});

test('an expensive reading is followed by a rest, which an urgent call ends', async () => {
  let clock = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock);
  const read = async () => {
    begun += 1;
    clock += 10_000;
    return begun;
  };
  expect(await readings.share('k', read, { isUrgent: false })).toBe(1);
  const waiting = readings.share('k', read, { isUrgent: false });
  for (let turns = 0; turns < 5; turns += 1) await turn();
  expect(begun).toBe(1);
  expect(await readings.share('k', read)).toBe(2);
  expect(await waiting).toBe(2);
});

test('a cached result is valid longer if it was expensive', async () => {
  let clock = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock);
  const read = async () => {
    begun += 1;
    clock += 10;
    return begun;
  };
  expect(await readings.keep('k', read)).toBe(1);
  clock += 499;
  expect(await readings.keep('k', read)).toBe(1);
  clock += 1;
  expect(await readings.keep('k', read)).toBe(2);
});

test('calls with ever-changing keys leave nothing in memory', async () => {
  let clock = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock);
  const { read, finish } = gated();
  const waiting = readings.share('waits', read);
  await vi.waitFor(() => expect(begun).toBe(1));
  for (let key = 0; key < 1_000; key += 1) {
    await readings.share(`map tag:${key}`, async () => key);
    clock += 1;
  }
  expect(readings.size).toBeLessThan(5);
  finish();
  expect(await waiting).toBe(1);
});
