import { expect, test } from 'vitest';
import { jsonOf } from './json-of.ts';

test.each<[string, unknown]>([
  ['{"patches":[1,2]}', { patches: [1, 2] }],
  [' [\n{"a":null}\n]\n', [{ a: null }]],
  ['{}', undefined],
  ['[]', undefined],
  ['"text"', undefined],
  ['42', undefined],
  ['{0} is full', undefined],
  ['[INFO] done [ok]', undefined],
  ['{"cut off": [1, 2', undefined],
  ['', undefined],
])('the JSON of %j', (text, value) => {
  expect(jsonOf(text)).toEqual(value);
});

test('a text of nothing but brackets is read without harm', () => {
  const deep = `${'['.repeat(8_000)}1${']'.repeat(8_000)}`;
  expect(Array.isArray(jsonOf(deep))).toBe(true);
});
