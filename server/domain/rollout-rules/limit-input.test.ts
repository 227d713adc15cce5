import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import {
  compareInput,
  errorsInput,
  inFlightInput,
  successInput,
  upToInput,
  windowInput,
  windowsInput,
} from './limit-input.ts';

/** Where a value is rejected, by path; null if it is accepted. */
function rejectedAt(schema: z.ZodType, value: unknown): string | null {
  const { error } = schema.safeParse(value);
  return error === undefined ? null : error.issues.map(({ path }) => path.join('.')).join();
}

const window = { days: ['mon'], from: '22:00', to: '04:00', timeZone: 'Europe/Berlin' };

test.each<[string, z.ZodType, unknown, unknown]>([
  ['the smallest share of members', upToInput, { percent: 0.01 }, { share: 1 }],
  ['a share that no binary fraction has', upToInput, { percent: 64.35 }, { share: 6_435 }],
  ['every member', upToInput, { percent: 100 }, { share: 10_000 }],
  ['a number of members', upToInput, { count: 1_000_000 }, { count: 1_000_000 }],
  ['a number in flight', inFlightInput, { count: 20_000 }, { count: 20_000 }],
  ['errors of at least one decided member, unless said', errorsInput, { percent: 5 }, { share: 500, atLeast: 1 }],
  ['no error at all', errorsInput, { percent: 0, atLeast: 20 }, { share: 0, atLeast: 20 }],
  ['a number of errors', errorsInput, { count: 3 }, { count: 3 }],
  ['success of at least one member, unless said', successInput, { percent: 95 }, { share: 9_500, atLeast: 1 }],
  ['a comparison with its defaults', compareInput, {}, { minEffectShare: 100, minPairs: 50, onTooFew: 'goOn' }],
  [
    'a comparison of half a percent',
    compareInput,
    { minEffectPercent: 0.5 },
    { minEffectShare: 50, minPairs: 50, onTooFew: 'goOn' },
  ],
])('accepts %s', (_, schema, given, stored) => {
  expect(schema.parse(given)).toEqual(stored);
});

describe('rejects', () => {
  test.each<[string, z.ZodType, unknown, string]>([
    ['no limit', upToInput, {}, ''],
    ['two limits', inFlightInput, { percent: 10, count: 10 }, ''],
    ['a share of nothing, with which no member could begin', inFlightInput, { percent: 0 }, 'percent'],
    ['a ring up to no member', upToInput, { percent: 0 }, 'percent'],
    ['a ring up to a number of no members', upToInput, { count: 0 }, 'count'],
    ['more than all', upToInput, { percent: 100.01 }, 'percent'],
    ['a negative share', errorsInput, { percent: -1 }, 'percent'],
    ['a third decimal place', successInput, { percent: 99.999 }, 'percent'],
    ['a share as text', successInput, { percent: '95' }, 'percent'],
    ['more members than a rollout can have', upToInput, { count: 1_000_001 }, 'count'],
    ['more in flight than the portal allows', inFlightInput, { count: 20_001 }, 'count'],
    ['half a member', inFlightInput, { count: 1.5 }, 'count'],
    ['a halt before the first error', errorsInput, { count: 0 }, 'count'],
    ['a number of errors of a minimum', errorsInput, { count: 3, atLeast: 20 }, 'atLeast'],
    ['errors without a limit', errorsInput, { atLeast: 20 }, ''],
    ['success without a share', successInput, { atLeast: 5 }, 'percent'],
    ['success of at least no member', successInput, { percent: 95, atLeast: 0 }, 'atLeast'],
    ['more pairs than a ring watches', compareInput, { minPairs: 1_001 }, 'minPairs'],
    ['a comparison that reverts', compareInput, { onTooFew: 'revert' }, 'onTooFew'],
    ['an unknown field', compareInput, { pairs: 50 }, ''],
  ])('%s', (_, schema, given, path) => {
    expect(rejectedAt(schema, given)).toBe(path);
  });
});

describe('RO-35 windows', () => {
  test('have each day once, from Monday on', () => {
    expect(windowInput.parse({ ...window, days: ['sun', 'wed', 'mon', 'wed'] }).days).toEqual(['mon', 'wed', 'sun']);
  });

  test.each([
    ['a day that does not exist', { days: ['monday'] }, 'days.0'],
    ['no day', { days: [] }, 'days'],
    ['an hour with one digit', { from: '9:00' }, 'from'],
    ['a time with seconds', { from: '09:00:00' }, 'from'],
    ['the 60th minute', { to: '09:60' }, 'to'],
    ['midnight as 24:00', { to: '24:00' }, 'to'],
    ['no time at all', { from: '04:00' }, 'to'],
    ['an offset instead of a time zone', { timeZone: '+02:00' }, 'timeZone'],
    ['a field of another calendar', { until: '2026-12-24' }, ''],
  ])('reject %s', (_, changes, path) => {
    expect(rejectedAt(windowInput, { ...window, ...changes })).toBe(path);
  });

  test('are at most 14', () => {
    expect(rejectedAt(windowsInput, Array(14).fill(window))).toBeNull();
    expect(rejectedAt(windowsInput, Array(15).fill(window))).toBe('');
  });
});
