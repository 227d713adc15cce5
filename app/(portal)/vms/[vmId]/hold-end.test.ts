import { expect, test } from 'vitest';
import { localTime } from '#app/_lib/local-time.ts';
import { endOf } from './hold-end.ts';

const now = new Date('2026-03-01T12:00:30Z');

test.each([
  ['open', '', null],
  ['1', '', '2026-03-01T13:00:30.000Z'],
  ['24', 'ignored', '2026-03-02T12:00:30.000Z'],
] as const)('the end %s, with the field %j, is %s', (end, at, until) => {
  expect(endOf(end, at, now)?.toISOString() ?? null).toBe(until);
});

test('the field shows the end of a hold as a local time, to the minute, and keeps that time', () => {
  const field = localTime(now);
  expect(field).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/);
  expect(endOf('at', field, now)?.getTime()).toBe(now.getTime() - 30_000);
});
