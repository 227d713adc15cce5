import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { bounded } from './bounded.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const cut = (value: unknown) => {
  const text = JSON.stringify(value);
  return { $cut: { bytes: Buffer.byteLength(text), sha256: sha256(text) } };
};
const text = (bytes: number) => 'x'.repeat(bytes);
/** Returns an object whose JSON has exactly this many bytes. */
const ofBytes = (bytes: number) => ({ a: text(bytes - '{"a":""}'.length) });

describe('what an act stores of a target', () => {
  test.each<[string, object | null | undefined, unknown]>([
    ['nothing', null, null],
    ['nothing given', undefined, null],
    ['an empty object', {}, {}],
    ['a small object, as it is', { name: 'a', tags: { b: ['1'] } }, { name: 'a', tags: { b: ['1'] } }],
    ['absent values, left out', { a: undefined, b: null }, { b: null }],
    ['a time, as text', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
    ['a list', [{ os: 'linux' }], [{ os: 'linux' }]],
    ['exactly the limit', ofBytes(16_384), ofBytes(16_384)],
    ['a byte more, as size and digest', ofBytes(16_385), { a: cut(ofBytes(16_385).a) }],
    ['bytes, not characters', { a: 'ä'.repeat(8_189) }, { a: cut('ä'.repeat(8_189)) }],
    [
      'small values beside a large one',
      { name: 'a', settings: { script: text(20_000), port: 80 } },
      { name: 'a', settings: { script: cut(text(20_000)), port: 80 } },
    ],
    [
      'a part of exactly a KiB, and a larger one',
      { small: text(1_022), large: text(1_023), rest: text(16_000) },
      { small: text(1_022), large: cut(text(1_023)), rest: cut(text(16_000)) },
    ],
    ['a large list as a whole', { list: [text(9_000), text(9_000)] }, { list: cut([text(9_000), text(9_000)]) }],
    ['a large list instead of an object', [text(9_000), text(9_000)], cut([text(9_000), text(9_000)])],
    [
      'a name that objects have anyway',
      JSON.parse(`{"__proto__":"${text(20_000)}","a":1}`),
      JSON.parse(`{"__proto__":${JSON.stringify(cut(text(20_000)))},"a":1}`),
    ],
  ])('%s', (_, value, expected) => {
    expect(bounded(value)).toEqual(expected);
  });

  test('an object with very many parts is cut as a whole', () => {
    const parts = (count: number, bytes: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`part ${index}`, text(bytes)]));
    const many = parts(101, 200);
    expect(bounded({ many })).toEqual({ many: cut(many) });
    const few = parts(100, 2_000);
    expect(bounded({ few })).toEqual({
      few: Object.fromEntries(Object.keys(few).map((key) => [key, cut(text(2_000))])),
    });
  });

  test('a value that is still too large after cutting is cut as a whole', () => {
    const parts = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`${index}`, text(1_000)]));
    expect(bounded(parts)).toEqual(cut(parts));
  });

  test('a cut value shows whether it changed, but none of its contents', () => {
    const [first, same, other] = [text(20_000), text(20_000), `${text(19_999)}y`].map((a) => bounded({ a }));
    expect(first).toEqual(same);
    expect(first).not.toEqual(other);
    expect(JSON.stringify(first)).not.toContain('xxx');
  });

  test('the given object is not changed', () => {
    const given = { settings: { script: text(20_000) } };
    const before = structuredClone(given);
    bounded(given);
    expect(given).toEqual(before);
  });
});
