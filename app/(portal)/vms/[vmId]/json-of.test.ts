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
])('jsonOf(%j)', (text, value) => {
  expect(jsonOf(text)).toEqual(value);
});

test('numbers beyond JavaScript’s precision keep their spelling', () => {
  const text = '{"id":12345678901234567890,"size":1e400,"version":1.0,"port":80,"below":[9007199254740993,-0]}';
  expect(jsonOf(text)).toEqual({
    id: '12345678901234567890',
    size: '1e400',
    version: '1.0',
    port: 80,
    below: ['9007199254740993', '-0'],
  });
});

test('property names of Object.prototype are ordinary names', () => {
  const value = jsonOf('{"__proto__":{"port":80},"constructor":1,"toString":2}') ?? {};
  expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'toString']);
  expect('port' in value).toBe(false);
});

test('a text of brackets only, nested too deeply, does not throw', () => {
  const deep = `${'['.repeat(8_000)}1${']'.repeat(8_000)}`;
  expect(Array.isArray(jsonOf(deep))).toBe(true);
});
