import { expect, test } from 'vitest';
import { Pages } from './pages.ts';

const megabyte = 1_024 * 1_024;

test('discards unfinished blobs, the oldest first', () => {
  const pages = new Pages();
  for (let vm = 0; vm < 40; vm += 1) pages.begin(`vm-${vm}`, megabyte);
  expect(pages.put('vm-0', 0, Buffer.alloc(1))).toBe(false);
  expect(pages.put('vm-39', 0, Buffer.alloc(1))).toBeNull();
  expect(pages.put('vm-39', megabyte, Buffer.alloc(1))).toBe(false);
  expect(pages.put('vm-39', 1, Buffer.alloc(megabyte - 1))).toHaveLength(megabyte);
  expect(pages.put('vm-39', 0, Buffer.alloc(1))).toBe(false);
});
