import { expect, test } from 'vitest';
import type { Freeze, Window } from './stored.ts';
import { fitsWindows, freezeAt, nextFreeze, occurrences, openingAt } from './windows.ts';
import { isTimeZone } from './zones.ts';

const every: Window['days'] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const window = (from: string, to: string, timeZone = 'Europe/Berlin', days = every): Window => ({
  days,
  from,
  to,
  timeZone,
});
const at = (text: string) => new Date(text);

/** The occurrence of a window on a day: its length in minutes, and what the clocks do. */
function onDay(given: Window, day: string) {
  const from = new Date(Date.parse(`${day}T00:00:00Z`) - 86_400_000);
  const until = new Date(from.getTime() + 3 * 86_400_000);
  const found = occurrences(given, from, until).find((one) => one.day === day);
  return found && { minutes: (found.to.getTime() - found.from.getTime()) / 60_000, clocks: found.clocks };
}

test.each([
  ['Europe/Berlin', '2027-03-28', '01:30', '02:30', 30, 'shorter'],
  ['Europe/Berlin', '2027-03-28', '02:15', '02:45', 0, 'none'],
  ['Europe/Berlin', '2027-03-28', '02:30', '04:00', 60, 'shorter'],
  ['Europe/Berlin', '2027-03-28', '04:00', '05:00', 60, null],
  ['Europe/Berlin', '2026-10-25', '01:30', '02:30', 120, 'longer'],
  ['Europe/Berlin', '2026-10-25', '02:30', '03:30', 120, 'longer'],
  ['Australia/Lord_Howe', '2026-10-04', '01:30', '03:30', 90, 'shorter'],
  ['Australia/Lord_Howe', '2026-10-04', '02:00', '02:30', 0, 'none'],
  ['Australia/Lord_Howe', '2027-04-04', '01:00', '03:00', 150, 'longer'],
  ['UTC', '2028-02-29', '22:00', '04:00', 360, null],
  ['Europe/Berlin', '2028-02-29', '22:00', '04:00', 360, null],
])('RO-35 in %s on %s, %s to %s lasts %i minutes (%s)', (zone, day, from, to, minutes, clocks) => {
  expect(onDay(window(from, to, zone), day)).toEqual({ minutes, clocks });
});

test('RO-35 from is the first instant with its local time, and to the last', () => {
  const [one] = occurrences(window('02:15', '02:45'), at('2026-10-24T22:00:00Z'), at('2026-10-25T12:00:00Z'));
  expect([one?.from, one?.to]).toEqual([at('2026-10-25T00:15:00Z'), at('2026-10-25T01:45:00Z')]);
});

test('RO-35 a window that ends on the next day belongs to the day on which it starts', () => {
  const night = window('22:00', '04:00', 'Europe/Berlin', ['mon']);
  // Tuesday at 02:00 in Berlin; the window began on Monday.
  expect(openingAt([night], 0, at('2026-07-07T00:00:00Z'))).toEqual({
    isOpen: true,
    until: at('2026-07-07T02:00:00Z'),
  });
  // Monday at 02:00: the window of Sunday does not exist.
  expect(openingAt([night], 0, at('2026-07-06T00:00:00Z'))).toEqual({ isOpen: false, at: at('2026-07-06T20:00:00Z') });
});

test('RO-35 a step begins only if its commands fit in the rest of the window', () => {
  const night = window('22:00', '23:00', 'UTC');
  const now = at('2026-07-06T22:30:00Z');
  expect(openingAt([night], 1_800, now)).toEqual({ isOpen: true, until: now });
  expect(openingAt([night], 1_801, now)).toEqual({ isOpen: false, at: at('2026-07-07T22:00:00Z') });
});

test('RO-35 windows that meet are one, and without windows a step may always begin', () => {
  const now = at('2026-07-06T22:30:00Z');
  const windows = [window('22:00', '23:00', 'UTC'), window('23:00', '01:00', 'UTC')];
  expect(openingAt(windows, 3_600, now)).toEqual({ isOpen: true, until: at('2026-07-07T00:00:00Z') });
  expect(openingAt([], 3_600, now)).toEqual({ isOpen: true, until: null });
});

test('RO-35 a window into which no step fits is found', () => {
  expect(fitsWindows([window('22:00', '23:00')], 3_600)).toBe(true);
  expect(fitsWindows([window('22:00', '23:00')], 3_601)).toBe(false);
  expect(openingAt([window('22:00', '23:00')], 3_601, at('2026-07-06T00:00:00Z'))).toEqual({ isOpen: false, at: null });
});

test('RO-35 time zones have names, not offsets', () => {
  expect(['Europe/Berlin', 'UTC', 'Australia/Lord_Howe'].map(isTimeZone)).toEqual([true, true, true]);
  expect(['+01:00', 'Mars/Olympus', '', 'Europe/Berlin '].map(isTimeZone)).toEqual([false, false, false, false]);
});

const freeze = (from: string, to: string, exempt: string[] = []): Freeze => ({ from, to, reason: 'year end', exempt });

test('RO-36 a freeze binds every rollout except reverts and exempted ones', () => {
  const freezes = [freeze('2026-12-20T00:00:00Z', '2027-01-04T00:00:00Z', ['exempt'])];
  const now = at('2026-12-24T00:00:00Z');
  const until = at('2027-01-04T00:00:00Z');
  expect(freezeAt(freezes, { id: 'one', kind: 'rollout' }, now)).toEqual({ reason: 'year end', until });
  expect(freezeAt(freezes, { id: 'one', kind: 'automatic' }, now)).toEqual({ reason: 'year end', until });
  expect(freezeAt(freezes, { id: 'one', kind: 'revert' }, now)).toBeNull();
  expect(freezeAt(freezes, { id: 'exempt', kind: 'rollout' }, now)).toBeNull();
  expect(freezeAt(freezes, { id: 'one', kind: 'rollout' }, until)).toBeNull();
});

test('RO-36 freezes that meet end together, and the next one is known', () => {
  const freezes = [
    freeze('2026-12-22T00:00:00Z', '2026-12-28T00:00:00Z'),
    freeze('2026-12-20T00:00:00Z', '2026-12-22T00:00:00Z'),
  ];
  const rollout = { id: 'one', kind: 'rollout' };
  expect(freezeAt(freezes, rollout, at('2026-12-21T00:00:00Z'))?.until).toEqual(at('2026-12-28T00:00:00Z'));
  expect(nextFreeze(freezes, rollout, at('2026-12-01T00:00:00Z'))).toEqual(at('2026-12-20T00:00:00Z'));
});

test('RO-36 the next freeze is of no concern to reverts, exempted rollouts, and once it has begun', () => {
  const first = freeze('2026-12-20T00:00:00Z', '2026-12-28T00:00:00Z', ['exempt']);
  const second = freeze('2027-03-01T00:00:00Z', '2027-03-02T00:00:00Z');
  const next = (id: string, kind: string, now = '2026-12-01T00:00:00Z') =>
    nextFreeze([second, first], { id, kind }, at(now))?.toISOString().slice(0, 10);
  expect(next('one', 'rollout')).toBe('2026-12-20');
  expect(next('one', 'rollout', '2026-12-20T00:00:00Z')).toBe('2027-03-01');
  expect(next('exempt', 'rollout')).toBe('2027-03-01');
  expect(next('one', 'revert')).toBeUndefined();
  expect(next('one', 'rollout', '2027-03-01T00:00:00Z')).toBeUndefined();
});

test('RO-36 a short freeze inside a long one neither ends nor renames it', () => {
  const long = { ...freeze('2026-12-20T00:00:00Z', '2027-01-04T00:00:00Z'), reason: 'year end' };
  const short = { ...freeze('2026-12-24T00:00:00Z', '2026-12-26T00:00:00Z'), reason: 'holidays' };
  const earlier = freeze('2026-12-01T00:00:00Z', '2026-12-02T00:00:00Z');
  const found = freezeAt([short, long, earlier], { id: 'one', kind: 'rollout' }, at('2026-12-25T00:00:00Z'));
  expect(found).toEqual({ reason: 'year end', until: at('2027-01-04T00:00:00Z') });
});

test('RO-36 of freezes that overlap, the one that began first gives the reason, and the last one the end', () => {
  const first = { ...freeze('2026-12-20T00:00:00Z', '2027-01-04T00:00:00Z'), reason: 'year end' };
  const second = { ...freeze('2027-01-02T00:00:00Z', '2027-01-10T00:00:00Z'), reason: 'move' };
  const found = freezeAt([second, first], { id: 'one', kind: 'rollout' }, at('2026-12-25T00:00:00Z'));
  expect(found).toEqual({ reason: 'year end', until: at('2027-01-10T00:00:00Z') });
});

test('RO-35 a weekly window that a change of clocks leaves out comes a week later', () => {
  const sunday = window('02:15', '02:45', 'Europe/Berlin', ['sun']);
  // The window of 28 March 2027 does not occur, and the next one is in summer time.
  expect(openingAt([sunday], 60, at('2027-03-22T00:00:00Z'))).toEqual({
    isOpen: false,
    at: at('2027-04-04T00:15:00Z'),
  });
});

test('RO-35 windows that overlap are open until the later end, even if the longer one starts first', () => {
  const now = at('2026-07-06T22:30:00Z');
  const windows = [window('22:15', '22:45', 'UTC'), window('22:00', '23:30', 'UTC')];
  for (const given of [windows, windows.toReversed()])
    expect(openingAt(given, 600, now)).toEqual({ isOpen: true, until: at('2026-07-06T23:20:00Z') });
});

test('RO-35 a window in which a step no longer fits does not hide the next one of the same day', () => {
  const now = at('2026-07-06T22:50:00Z');
  const windows = [window('22:00', '23:00', 'UTC'), window('23:30', '23:59', 'UTC')];
  expect(openingAt(windows, 900, now)).toEqual({ isOpen: false, at: at('2026-07-06T23:30:00Z') });
});
