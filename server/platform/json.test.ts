import { describe, expect, test } from 'vitest';
import { parseJson } from './json.ts';

const faultsOf = (source: string | Uint8Array, options = {}) => parseJson(source, options).faults;

describe('parseJson', () => {
  test.each([
    ['null', null],
    [' [1, -0.5e3, "a\\u0041\\n\\ud83d\\ude00"] ', [1, -500, 'aA\n😀']],
    ['{"a":{"b":[{},[],true,false]}}', { a: { b: [{}, [], true, false] } }],
    ['\ufeff{"a":1}', { a: 1 }],
    ['9007199254740992', 9007199254740992],
  ])('reads %j', (text, value) => {
    expect(parseJson(text)).toEqual({ value, fault: null, faults: [] });
    expect(parseJson(Buffer.from(text)).value).toEqual(value);
  });

  test.each([
    ['', 1, 1],
    ['{"a":1,}', 1, 8],
    ['[1,\n 2,\n]', 3, 1],
    ['[01]', 1, 3],
    ['{"a" 1}', 1, 6],
    ['{a:1}', 1, 2],
    ['"a\nb"', 1, 3],
    ['"\\x"', 1, 2],
    ['"\\u00g0"', 1, 2],
    ['"open', 1, 6],
    ['[1 2]', 1, 4],
    ['1 1', 1, 3],
    ['nul', 1, 1],
    ['[}', 1, 2],
    ['-', 1, 1],
  ])('says where %j is malformed, and agrees with JSON.parse', (text, line, column) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(faultsOf(text)).toEqual([{ path: '', code: 'json_malformed', params: { line, column } }]);
  });

  test('every duplicate, large number and unstorable character is listed by path', () => {
    const text =
      '{"a":1,"b":[{"c/d":1,"c\\u002fd":2},12345678901234567890],"e":"\\u0000","f":"\\ud800x","g":-9007199254740993}';
    expect(faultsOf(text)).toEqual([
      { path: '/b/0/c~1d', code: 'json_duplicate_key' },
      { path: '/b/1', code: 'json_number' },
      { path: '/e', code: 'json_character' },
      { path: '/f', code: 'json_character' },
      { path: '/g', code: 'json_number' },
    ]);
  });

  test.each([
    ['0.1234567890123456789', true],
    ['-123456.78901234567890123', true],
    ['1.0000000000000000001', true],
    ['1e-400', true],
    ['1.2345e-322', true],
    ['0.30000000000000004', false],
    ['0.12345678901234568', false],
    ['100.000000000000000000000', false],
    ['0.000000000000000000000', false],
    ['-0', false],
    ['1.5e-300', false],
    ['2.50E2', false],
    ['5e-324', false],
    ['9007199254740992', false],
    ['9007199254740992.5', true],
  ])('EN-42 of %s, digits are lost: %s', (text, isLost) => {
    expect(faultsOf(`{"n":[${text}]}`)).toEqual(isLost ? [{ path: '/n/0', code: 'json_number' }] : []);
  });

  test.each(['0.12345678901234567890', '20261129194507123', '9e4a61f8-e123-4b5c'])('text may be %s', (text) => {
    expect(parseJson(`{"a":"${text}"}`).value).toEqual({ a: text });
  });

  test('repair keeps numbers and replaces unstorable characters with U+FFFD', () => {
    expect(parseJson('["a\\u0000b\\ud83d\\ude00\\udc00", 1e30]', { oddities: 'repair' }).value).toEqual([
      'a\ufffdb😀\ufffd',
      1e30,
    ]);
  });

  test('limits depth and size before building values', () => {
    expect(faultsOf('['.repeat(64) + ']'.repeat(64))).toEqual([]);
    expect(faultsOf('['.repeat(1_000_000))).toEqual([{ path: '', code: 'json_too_deep', params: { limit: 64 } }]);
    expect(faultsOf('"ä"', { maxBytes: 3 })).toEqual([{ path: '', code: 'json_too_large', params: { limit: 3 } }]);
  });

  test('rejects bytes that are not UTF-8', () => {
    expect(faultsOf(Uint8Array.of(0x22, 0xff, 0x22))).toEqual([{ path: '', code: 'json_not_utf8' }]);
  });

  test('__proto__ is an ordinary property and changes no prototype', () => {
    const value = parseJson('{"__proto__":{"admin":true}}').value as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(value.admin).toBeUndefined();
  });

  test('reads megabytes in linear time', () => {
    const started = performance.now();
    expect(parseJson(JSON.stringify({ a: 'x'.repeat(4_000_000), b: Array(100_000).fill({ c: 1 }) })).fault).toBeNull();
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
