import { expect, test } from 'vitest';
import { mergePatch } from './merge-patch.ts';

test.each<[object, Record<string, unknown>, object]>([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{ a: 'foo' }, { a: { b: 1 } }, { a: { b: 1 } }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])('RO-3 merges settings as RFC 7396 defines: %j with %j is %j', (target, patch, result) => {
  expect(mergePatch(target, patch)).toEqual(result);
});

test('RO-3 merges properties that have names of built-in properties', () => {
  const patch = JSON.parse('{"__proto__": {"a": 1}, "constructor": "x"}');
  expect(JSON.stringify(mergePatch({}, patch))).toBe('{"__proto__":{"a":1},"constructor":"x"}');
});

test('RO-3 does not change the settings that are merged', () => {
  const target = { a: { b: 1 } };
  mergePatch(target, { a: { b: 2 } });
  expect(target).toEqual({ a: { b: 1 } });
});
