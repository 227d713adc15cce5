import { expect, test } from 'vitest';
import { createFormat } from './format.ts';

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [1023, '1,023 bytes'],
  [1536, '1.5 KiB'],
  [104_857_600, '100 MiB'],
  [1_073_741_823, '1,024 MiB'],
  [5 * 1024 ** 4, '5 TiB'],
  [3000 * 1024 ** 4, '3,000 TiB'],
])('%i bytes are shown as %s, in binary units as in the documentation', (count, text) => {
  expect(createFormat('en', 'UTC').bytes(count).replace('\u00a0', ' ')).toBe(text);
});

test('a German reader sees a decimal comma and grouped digits', () => {
  const format = createFormat('de', 'UTC');
  expect(format.bytes(1536)).toBe('1,5\u00a0KiB');
  expect(format.bytes(1023).startsWith('1.023')).toBe(true);
});

test('a date more than half a year away shows its year, a closer date does not', () => {
  const format = createFormat('en', 'UTC');
  const { year, month } = { year: new Date().getUTCFullYear(), month: new Date().getUTCMonth() };
  const nextYear = new Date(Date.UTC(year + 1, month, 15, 9, 30));
  expect(format.dateTime(nextYear, 'short')).toContain(String(year + 1));
  expect(format.dateTime(nextYear, 'day')).toContain(String(year + 1));
  const soon = new Date(Date.now() + 24 * 3_600_000);
  expect(format.dateTime(soon, 'short')).not.toContain(String(soon.getUTCFullYear()));
});
