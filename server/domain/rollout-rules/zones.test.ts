import { describe, expect, test } from 'vitest';
import { clockChanges, dayAt, instantOf, isTimeZone, zoneOf } from './zones.ts';

const hour = 3_600_000;
const at = (text: string) => Date.parse(text);

test.each([
  ['Europe/Berlin', '2026-01-15T12:00:00Z', 1],
  ['Europe/Berlin', '2026-07-15T12:00:00Z', 2],
  ['Europe/Berlin', '2027-03-28T00:59:59.999Z', 1],
  ['Europe/Berlin', '2027-03-28T01:00:00Z', 2],
  ['America/St_Johns', '2026-01-15T12:00:00Z', -3.5],
  ['Asia/Kathmandu', '2026-01-15T12:00:00Z', 5.75],
  ['Pacific/Kiritimati', '2026-01-15T12:00:00Z', 14],
  ['UTC', '1969-12-31T23:59:59.500Z', 0],
])('RO-35 %s at %s is %d hours ahead of UTC', (zone, instant, hours) => {
  expect(zoneOf(zone).offset(at(instant))).toBe(hours * hour);
});

test.each([
  ['Pacific/Kiritimati', '2026-12-31T10:00:00Z', [2027, 1, 1]],
  ['Pacific/Pago_Pago', '2027-01-01T10:59:59Z', [2026, 12, 31]],
  ['Europe/Berlin', '2028-02-28T23:00:00Z', [2028, 2, 29]],
  ['UTC', '2028-02-29T00:00:00Z', [2028, 2, 29]],
])('RO-35 in %s, %s is on the day %j', (zone, instant, [year, month, day]) => {
  expect(dayAt(zoneOf(zone), at(instant))).toEqual({ year, month, day });
});

describe('RO-35 the instant of a local time', () => {
  const instants = (zone: string, local: string) =>
    (['first', 'last'] as const).map((pick) => new Date(instantOf(zoneOf(zone), at(`${local}Z`), pick)).toISOString());

  test.each([
    ['occurs once', 'Europe/Berlin', '2026-07-06T22:00', '2026-07-06T20:00', '2026-07-06T20:00'],
    ['occurs twice', 'America/New_York', '2026-11-01T01:30', '2026-11-01T05:30', '2026-11-01T06:30'],
    [
      'occurs twice, half an hour apart',
      'Australia/Lord_Howe',
      '2027-04-04T01:45',
      '2027-04-03T14:45',
      '2027-04-03T15:15',
    ],
    [
      'follows the hour that occurs twice',
      'America/New_York',
      '2026-11-01T02:00',
      '2026-11-01T07:00',
      '2026-11-01T07:00',
    ],
    ['is left out', 'America/New_York', '2026-03-08T02:30', '2026-03-08T07:00', '2026-03-08T07:00'],
    ['is on a day that Samoa left out', 'Pacific/Apia', '2011-12-30T12:00', '2011-12-30T10:00', '2011-12-30T10:00'],
  ])('that %s', (_, zone, local, first, last) => {
    expect(instants(zone, local)).toEqual([`${first}:00.000Z`, `${last}:00.000Z`]);
  });
});

test('RO-35 a name that is not of a time zone is rejected, and never read as UTC', () => {
  const names = ['GMT+25', '-05:00', '1', 'Europe', 'Europe/Berlin\0', '__proto__'];
  expect(names.filter(isTimeZone)).toEqual([]);
  expect(() => zoneOf('Europe')).toThrow(RangeError);
});

test.each([
  ['Europe/Berlin', '2026-10-19T09:00:00Z', ['2026-10-25T01:00:00.000Z', -60]],
  ['Europe/Berlin', '2027-03-20T00:00:00Z', ['2027-03-28T01:00:00.000Z', 60]],
  ['Australia/Lord_Howe', '2026-09-28T00:00:00Z', ['2026-10-03T15:30:00.000Z', 30]],
  ['UTC', '2026-10-19T09:00:00Z', undefined],
])('RO-35 in %s, the clocks of the two weeks from %s change at %j', (zone, from, change) => {
  const found = clockChanges(zoneOf(zone), at(from), at(from) + 14 * 24 * hour);
  expect(found.map(({ at, minutes }) => [new Date(at).toISOString(), minutes])).toEqual(
    change === undefined ? [] : [change],
  );
});
