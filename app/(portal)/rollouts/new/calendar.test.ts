import { describe, expect, test } from 'vitest';
import { calendarOf } from './calendar.ts';
import { spansOf } from './window-spans.ts';
import type { PlacedWindow } from './windows.ts';

const now = Date.parse('2026-10-19T09:22:00Z');
const nights = { days: ['mon', 'tue'], from: '22:00', to: '04:00', timeZone: 'Europe/Berlin' };
const iso = (at: number | Date) => new Date(at).toISOString();

const calendar = (placed: PlacedWindow[], timeZone = 'UTC') =>
  calendarOf(['canary', 'tenth', 'all'], placed, { now, timeZone });

test('RO-35 windows are those of the next 14 days of the reader, and rings without windows share a row', () => {
  const { days, rows, clocks, until } = calendar([{ ring: 2, window: nights }]);
  expect(days).toHaveLength(14);
  expect([iso(days[0] ?? 0), iso(until)]).toEqual(['2026-10-19T00:00:00.000Z', '2026-11-02T00:00:00.000Z']);
  expect(rows.map(({ rings, windows }) => [rings, windows?.length ?? null])).toEqual([
    [['canary', 'tenth'], null],
    [['all'], 1],
  ]);
  expect(rows[1]?.windows?.[0]?.occurrences.map(({ from, to }) => [iso(from), iso(to)])).toEqual([
    ['2026-10-19T20:00:00.000Z', '2026-10-20T02:00:00.000Z'],
    ['2026-10-20T20:00:00.000Z', '2026-10-21T02:00:00.000Z'],
    ['2026-10-26T21:00:00.000Z', '2026-10-27T03:00:00.000Z'],
    ['2026-10-27T21:00:00.000Z', '2026-10-28T03:00:00.000Z'],
  ]);
  expect(clocks.map(({ at, ...rest }) => ({ ...rest, at: iso(at) }))).toEqual([
    { timeZone: 'Europe/Berlin', minutes: -60, at: '2026-10-25T01:00:00.000Z' },
  ]);
});

test('windows of the rollout are those of every ring without windows', () => {
  const { rows } = calendar([
    { ring: null, window: nights },
    { ring: 0, window: { ...nights, timeZone: 'UTC' } },
  ]);
  expect(rows.map(({ rings, windows }) => [rings, windows?.[0]?.window.timeZone])).toEqual([
    [['tenth', 'all'], 'Europe/Berlin'],
    [['canary'], 'UTC'],
  ]);
});

test('RO-35 days begin at the reader’s midnight, even if a clock change makes one longer', () => {
  const { days } = calendar([], 'Europe/Berlin');
  expect(iso(days[0] ?? 0)).toBe('2026-10-18T22:00:00.000Z');
  expect(iso(days[7] ?? 0)).toBe('2026-10-25T23:00:00.000Z');
});

describe('a window that is being typed is left out', () => {
  test.each([
    ['without days', { ...nights, days: [] }],
    ['without a time', { ...nights, from: '' }],
    ['of no length', { ...nights, to: '22:00' }],
    ['in an unknown time zone', { ...nights, timeZone: 'Europe/Ber' }],
  ])('%s', (_, window) => {
    expect(calendar([{ ring: null, window }]).rows).toEqual([{ rings: ['canary', 'tenth', 'all'], windows: null }]);
  });
});

test('the reader’s times of a window are listed again where a change of clocks moves them', () => {
  const [row] = calendar([{ ring: null, window: nights }]).rows;
  const spans = spansOf(row?.windows?.[0]?.occurrences ?? [], ({ from }) => iso(from).slice(11, 16));
  expect(spans.map(({ span, from }) => [span, iso(from).slice(0, 10)])).toEqual([
    ['20:00', '2026-10-19'],
    ['21:00', '2026-10-26'],
  ]);
});
