import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Database } from '#db/client.ts';
import { desksOf, keepReading, shareReading } from './shared-reading.ts';

/** Readings are kept per database; nobody asks this one anything. */
let db: Database;
let begun: number;

beforeEach(() => {
  db = {} as Database;
  begun = 0;
});
afterEach(() => vi.restoreAllMocks());

/** A reading that answers when it is told to. */
function gated() {
  const gates: (() => void)[] = [];
  const read = () => {
    begun += 1;
    const answer = begun;
    return new Promise<number>((resolve) => gates.push(() => resolve(answer)));
  };
  return { read, finish: () => gates.shift()?.() };
}

test('who asks in the same turn is answered by one reading, who asks while it runs by the next', async () => {
  const { read, finish } = gated();
  const first = [shareReading({ db }, 'k', read), shareReading({ db }, 'k', read)];
  await vi.waitFor(() => expect(begun).toBe(1));
  const later = [shareReading({ db }, 'k', read), shareReading({ db }, 'k', read)];
  finish();
  expect(await Promise.all(first)).toEqual([1, 1]);
  await vi.waitFor(() => expect(begun).toBe(2));
  finish();
  expect(await Promise.all(later)).toEqual([2, 2]);
});

test('a reading that fails fails for those who asked, not for the next', async () => {
  const fails = shareReading({ db }, 'k', async () => {
    throw new Error('no');
  });
  await expect(fails).rejects.toThrow('no');
  expect(await shareReading({ db }, 'k', async () => 'yes')).toBe('yes');
});

test('a dear reading is followed by a rest, which a page ends', async () => {
  let clock = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock);
  const read = async () => {
    begun += 1;
    clock += 10_000;
    return begun;
  };
  const screen = { db, isPage: false };
  expect(await shareReading(screen, 'k', read)).toBe(1);
  const waiting = shareReading(screen, 'k', read);
  for (let turns = 0; turns < 5; turns += 1) await turn();
  expect(begun).toBe(1);
  expect(await shareReading({ db, isPage: true }, 'k', read)).toBe(2);
  expect(await waiting).toBe(2);
});

test('what changes slowly is kept, the longer the dearer it was', async () => {
  let clock = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock);
  const read = async () => {
    begun += 1;
    clock += 10;
    return begun;
  };
  expect(await keepReading(db, 'k', read)).toBe(1);
  clock += 499;
  expect(await keepReading(db, 'k', read)).toBe(1);
  clock += 1;
  expect(await keepReading(db, 'k', read)).toBe(2);
});

test('whoever asks for ever other things leaves nothing behind', async () => {
  let clock = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock);
  const { read, finish } = gated();
  const waiting = shareReading({ db }, 'waits', read);
  await vi.waitFor(() => expect(begun).toBe(1));
  for (let key = 0; key < 1_000; key += 1) {
    await shareReading({ db }, `map tag:${key}`, async () => key);
    clock += 1;
  }
  expect(desksOf(db)).toBeLessThan(5);
  finish();
  expect(await waiting).toBe(1);
});
