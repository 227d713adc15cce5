import { expect, test } from 'vitest';
import { createFormat } from '#app/_ui/format.ts';
import { dateLocaleFor } from './date-locale.ts';

test.each([
  ['en', 'en-GB,en;q=0.9', 'en-GB'],
  ['en', 'de-DE,de;q=0.9,en-AU;q=0.8,en-US;q=0.7', 'en-AU'],
  ['en', 'en-US;q=0.5,en-GB', 'en-GB'],
  ['en', 'en', 'en'],
  ['en', 'en-ZZ', 'en-ZZ'],
  ['en', 'en-Latn-GB-u-nu-arab', 'en-GB'],
  ['en', '*, ;q=1, en-', 'en'],
  ['en', null, 'en'],
  ['de', 'en-GB', 'de'],
])('a page in %s for Accept-Language %s uses %s for dates', (language, header, locale) => {
  expect(dateLocaleFor(language, header)).toBe(locale);
});

test('a British reader sees the day before the month, and an American reader the month before the day', () => {
  const at = new Date('2026-03-04T12:00:00Z');
  const day = (header: string) => createFormat('en', 'UTC', dateLocaleFor('en', header)).dateTime(at, 'day');
  expect(day('en-GB')).toMatch(/^4 Mar/);
  expect(day('en-US')).toMatch(/^Mar 4/);
});
