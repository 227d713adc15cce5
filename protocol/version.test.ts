import { describe, expect, test } from 'vitest';
import { extensionNamePattern, handlerIdentity, parseHandlerId } from './names.ts';
import { compareVersions, parseVersion, versionKey } from './version.ts';

describe('AZ-P1 versions', () => {
  test.each<[string, number[]]>([
    ['0', [0]],
    ['1.0', [1, 0]],
    ['1.2.3.4', [1, 2, 3, 4]],
    ['2147483647.0.10', [2147483647, 0, 10]],
  ])('%s is a version', (text, parts) => {
    expect(parseVersion(text)).toEqual(parts);
  });

  test.each([
    '',
    '.',
    '1.',
    '.1',
    '1..2',
    '01',
    '1.00',
    '1.2.3.4.5',
    '2147483648',
    '99999999999',
    '-1',
    '+1',
    '1a',
    '1,2',
    ' 1',
    '1\n',
    '١',
  ])('%j is not a version', (text) => {
    expect(parseVersion(text)).toBeNull();
    expect(versionKey(text)).toBeNull();
  });

  test.each<[string, string, -1 | 0 | 1]>([
    ['1', '1.0.0.0', 0],
    ['1.0', '1', 0],
    ['1.9', '1.10', -1],
    ['2', '1.99.99.99', 1],
    ['1.0.0.1', '1', 1],
    ['2147483647', '9', 1],
  ])('%s against %s: numbers are compared one by one, and missing numbers count as 0', (a, b, order) => {
    expect(Math.sign(compareVersions(a, b))).toBe(order);
    expect(Math.sign(compareVersions(b, a))).toBe(order === 0 ? 0 : -order);
    expect(versionKey(a) === versionKey(b)).toBe(order === 0);
    if (order !== 0) expect((versionKey(a) ?? '') < (versionKey(b) ?? '')).toBe(order < 0);
  });

  test('comparing text that is not a version throws', () => {
    expect(() => compareVersions('1', 'x')).toThrow(RangeError);
  });
});

describe('AZ-P1 identity', () => {
  test('a handler id is namespace and type; its identity adds the version after a dash', () => {
    expect(parseHandlerId('Acme.Lab.Probe')).toEqual({ namespace: 'Acme.Lab', type: 'Probe' });
    expect(handlerIdentity('Acme.Lab.Probe', '1.0.0.0')).toBe('Acme.Lab.Probe-1.0.0.0');
  });

  test.each([
    'Probe',
    '',
    'Acme.',
    '.Probe',
    'Acme..Probe',
    'Acme/Probe',
    '../Acme.Probe',
    'Acme.Pro be',
    'Acme.Probe-',
    `A.${'b'.repeat(191)}`,
  ])('%j is not a handler id', (id) => {
    expect(parseHandlerId(id)).toBeNull();
  });

  test('extension names are safe as parts of file names', () => {
    for (const name of ['probe', 'web-1', 'Acme.Lab.Probe', '_a', '1']) expect(name).toMatch(extensionNamePattern);
    for (const name of ['', '.', '..', '.a', 'a.', '-a', 'a/b', 'a\\b', 'a b', 'a\0', 'a\n']) {
      expect(name).not.toMatch(extensionNamePattern);
    }
  });
});
