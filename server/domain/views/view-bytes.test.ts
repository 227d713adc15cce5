import { expect, test } from 'vitest';
import { distributeBytes } from './view-bytes.ts';

const take = (length: number) => (_: number, share: { text(text: string): string }) => share.text('x'.repeat(length));
const lengths = (texts: string[]) => texts.map(({ length }) => length);

test("an extension's unused share goes to extensions that need more, and the order is kept", () => {
  const needs = [50_000, 10, 20_000];
  const texts = distributeBytes(
    needs,
    (need) => need,
    (need, share) => share.text('x'.repeat(need)),
    60_000,
  );
  expect(lengths(texts).map((length) => Math.round(length / 1_000))).toEqual([40, 0, 20]);
  expect(texts[1]).toHaveLength(10);
});

test('a text always keeps a minimum', () => {
  const [text] = distributeBytes([1], () => 1, take(10_000), 10);
  expect(Buffer.byteLength(text ?? '')).toBe(256);
});

test('accepts parts until no bytes are left', () => {
  const [count] = distributeBytes(
    [1],
    () => 1,
    (_, share) => Array.from({ length: 100 }).filter(() => share.takePart()).length,
    2_000,
  );
  expect(count).toBe(10);
});

test('a message that does not fit loses its params and is marked', () => {
  const message = { text: 'short', lang: 'en', source: 'resource' as const, id: 'm', params: ['p'.repeat(5_000)] };
  const [cut, whole] = [1_000, 10_000].map(
    (bytes) =>
      distributeBytes(
        [1],
        () => 1,
        (_, share) => share.message(message),
        bytes,
      )[0],
  );
  expect(cut).toEqual({ text: 'short', lang: 'en', source: 'resource', id: 'm', truncated: true });
  expect(whole).toEqual(message);
});
