import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { deriveKeys } from '#server/platform/keys.ts';
import { nodeLimits, requireKeys, requireSizes } from './node-limits.ts';
import { type NodeRef, openSettings, openValue, resealValue, sealSettings, valueBytes } from './sealed-node.ts';

const keys = deriveKeys(randomBytes(32));
const node: NodeRef = { relationId: 3, unitId: '018f0000-0000-7000-8000-000000000001' };
const sealedOf = (of: NodeRef, key: string, text: string, with_ = keys) =>
  sealSettings(with_, of, Object.fromEntries([[key, text]]))[key] as [sealed: string, fingerprint: string];

describe('sealed values', () => {
  test('EN-42 values come back as they were set, even under keys with a meaning in JavaScript', () => {
    const settings = Object.fromEntries([
      ['__proto__', '{"a":1}'],
      ['constructor', 'null'],
      ['host', '"größe \\u0000 🐘"'],
      ['long', '12345678901234567890'],
    ]);
    const opened = openSettings(keys, node, sealSettings(keys, node, settings));
    expect(Object.entries(opened)).toEqual(Object.entries(settings));
  });

  test.each([
    ['another unit', { ...node, unitId: '018f0000-0000-7000-8000-000000000002' }, 'host'],
    ['another relation', { ...node, relationId: 4 }, 'host'],
    ['another key', node, 'hosts'],
  ])('EN-64 a value that was copied to %s in the database cannot be read', (_, place, key) => {
    const [sealed] = sealedOf(node, 'host', '"10.0.0.4"');
    expect(openValue(keys, node, 'host', sealed)).toBe('"10.0.0.4"');
    expect(() => openValue(keys, place, key, sealed)).toThrow();
  });

  test('EN-40 the same value has the same fingerprint and other bytes; another text has another fingerprint', () => {
    const [one, again] = [sealedOf(node, 'n', '1.0'), sealedOf(node, 'n', '1.0')];
    expect(again[1]).toBe(one[1]);
    expect(again[0]).not.toBe(one[0]);
    expect(sealedOf(node, 'n', '1')[1]).not.toBe(one[1]);
  });

  test('EN-64 fingerprints do not show that two nodes, or two keys, have the same value', () => {
    const places: [NodeRef, string][] = [
      [node, 'a'],
      [node, 'b'],
      [{ ...node, relationId: 4 }, 'a'],
      [{ ...node, unitId: '018f0000-0000-7000-8000-000000000002' }, 'a'],
    ];
    const fingerprints = places.map(([of, key]) => sealedOf(of, key, '"same"')[1]);
    expect(new Set(fingerprints).size).toBe(places.length);
    expect(sealedOf(node, 'a', '"same"', deriveKeys(randomBytes(32)))[1]).not.toBe(fingerprints[0]);
  });

  test.each([0, 1, 2, 3, 4, 5, 255, 64_000])('a value of %i bytes is shown with its size, without its key', (bytes) => {
    expect(valueBytes(sealedOf(node, 'k', 'x'.repeat(bytes))[0])).toBe(bytes);
  });

  test('a value that is sealed again opens with the new keys only, with the fingerprint of the new keys', () => {
    const next = deriveKeys(randomBytes(32));
    const [sealed] = sealedOf(node, 'host', '"a"');
    const [again, fingerprint] = resealValue(keys, next, node, 'host', sealed);
    expect(openValue(next, node, 'host', again)).toBe('"a"');
    expect(() => openValue(keys, node, 'host', again)).toThrow();
    expect(fingerprint).toBe(sealedOf(node, 'host', '"a"', next)[1]);
    expect(() => resealValue(next, keys, node, 'host', sealed), 'the wrong old keys').toThrow();
  });
});

describe('limits of a node', () => {
  const changesOf = (key: string) => [{ relation: 3, set: Object.fromEntries([[key, '1']]), remove: [] }];

  test.each(['a', ' ', 'a:b/c\n', '__proto__', 'k'.repeat(255), 'ä'.repeat(127)])('the key %j is accepted', (key) => {
    expect(() => requireKeys(changesOf(key))).not.toThrow();
  });

  test('the length of a key counts in bytes, even for keys that are removed and in later relations', () => {
    const long = 'ä'.repeat(128);
    const code = { kind: 'unprocessable', code: 'node_key_form', params: { limit: 255 } };
    expect(() => requireKeys(changesOf(long))).toThrow(expect.objectContaining(code));
    const removed = [...changesOf('fine'), { relation: 4, set: {}, remove: ['fine', long] }];
    expect(() => requireKeys(removed)).toThrow(expect.objectContaining(code));
    expect(() => requireKeys(undefined)).not.toThrow();
  });

  test('a node may be as large as the limit, and one node that is larger rejects all', () => {
    const { bytes, keys: count } = nodeLimits;
    const full = { bytes, keys: count };
    const code = { code: 'node_too_large', params: { bytes, keys: count } };
    expect(() => requireSizes([full, full])).not.toThrow();
    expect(() => requireSizes([full, { ...full, bytes: bytes + 1 }])).toThrow(expect.objectContaining(code));
    expect(() => requireSizes([full, { ...full, keys: count + 1 }])).toThrow(expect.objectContaining(code));
  });
});
