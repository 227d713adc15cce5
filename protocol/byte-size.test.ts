import { expect, test } from 'vitest';
import { formatByteSize } from './byte-size.ts';

test.each([
  ['en', 1, '1 byte'],
  ['en', 1023, '1,023 bytes'],
  ['en', 1024, '1 KiB'],
  ['en', 1536, '1.5 KiB'],
  ['de', 1536, '1,5 KiB'],
  ['en', 64 * 1024 ** 2, '64 MiB'],
  ['en', 1500 * 1024 ** 2, '1.5 GiB'],
  ['de', 1023, '1.023 Byte'],
])('in %s, %i bytes are written as %s', (language, bytes, text) => {
  expect(formatByteSize(language, bytes)).toBe(text);
});
