import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { deriveKeys } from '#server/platform/keys.ts';
import { openServiceSecret, sealServiceSecret, secretFingerprint } from './service-secret.ts';

const keys = deriveKeys(randomBytes(32));
const other = deriveKeys(randomBytes(32));
const of = { serviceId: 'blog', version: 3 };
const plain = Buffer.from('{"password":"hunter2"}');

describe('EN-64 an encrypted secret', () => {
  test('is opened for its service and its version', () => {
    const secret = sealServiceSecret(keys, of, plain);
    expect(openServiceSecret({ keys }, { ...of, secret })).toEqual(plain);
    expect(secret.includes('hunter2')).toBe(false);
  });

  test('differs each time, so equal secrets are not recognized', () => {
    expect(sealServiceSecret(keys, of, plain)).not.toEqual(sealServiceSecret(keys, of, plain));
  });

  test.each([
    ['another service', { serviceId: 'shop', version: 3 }, keys],
    ['another version', { serviceId: 'blog', version: 2 }, keys],
    ['another key', of, other],
  ])('is not opened for %s', (_, wrong, own) => {
    const secret = sealServiceSecret(keys, of, plain);
    expect(() => openServiceSecret({ keys: own }, { ...wrong, secret })).toThrow();
  });

  test('that was changed is not opened', () => {
    const secret = sealServiceSecret(keys, of, plain);
    for (const at of [0, 12, secret.length - 1]) {
      const forged = Buffer.from(secret);
      forged.writeUInt8(forged.readUInt8(at) ^ 1, at);
      expect(() => openServiceSecret({ keys }, { ...of, secret: forged }), `byte ${at}`).toThrow();
    }
  });
});

describe('a fingerprint', () => {
  const print = (value: unknown, service = 'blog', own = keys) => secretFingerprint({ keys: own }, service, value);

  test('is the same for the same values, whatever the order of their keys', () => {
    expect(print({ a: 1, b: { c: 2, d: 3 } })).toBe(print({ b: { d: 3, c: 2 }, a: 1 }));
  });

  test.each([
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, { a: '1' }],
    [{ a: [1, 2] }, { a: [2, 1] }],
    [{}, { a: null }],
  ])('tells %j from %j', (one, two) => {
    expect(print(one)).not.toBe(print(two));
  });

  test('shows neither that two services have the same secret, nor that two portals have', () => {
    expect(print({ a: 1 }, 'shop')).not.toBe(print({ a: 1 }));
    expect(print({ a: 1 }, 'blog', other)).not.toBe(print({ a: 1 }));
  });
});
