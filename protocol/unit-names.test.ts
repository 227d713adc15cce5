import { expect, test } from 'vitest';
import {
  compareUnits,
  isRelationName,
  isServiceName,
  isUnitName,
  parseUnitName,
  unitFolderName,
} from './unit-names.ts';

test.each([
  ['wordpress/1', { service: 'wordpress', number: 1 }],
  ['my-sql/0', { service: 'my-sql', number: 0 }],
  ['b2b-9a/1234567890', { service: 'b2b-9a', number: 1_234_567_890 }],
])('EN-2 %s is the name of a unit', (name, parsed) => {
  expect(parseUnitName(name)).toEqual(parsed);
});

test.each([
  '',
  'wordpress',
  'wordpress/',
  'wordpress/01',
  'wordpress/-1',
  'wordpress/1.0',
  'wordpress/1/2',
  '/1',
  '../x/1',
  'word press/1',
  'wordpress-1/1',
  'Wordpress/1',
  'wordpress/1\n',
  'wordpress/12345678901',
  `${'a'.repeat(10_000)}/1`,
])('EN-2 %j is not the name of a unit', (name) => {
  expect(isUnitName(name)).toBe(false);
});

test.each(['wordpress-1', 'Ä', '-a', 'a-', 'a--b', '1a', 'a_b', 'a'.repeat(64), ''])(
  '%j is not the name of a service',
  (name) => {
    expect(isServiceName(name)).toBe(false);
  },
);

test('a relation is named like a service, without the reserved beginnings', () => {
  const names = ['db', 'website-proxy', 'juju-info', 'ensemble', 'a/b', 'db-1'];
  expect(names.filter(isRelationName)).toEqual(['db', 'website-proxy']);
});

test('units are sorted by service and number', () => {
  const sorted = ['a/2', 'a/10', 'b/1'];
  expect(sorted.toReversed().sort(compareUnits)).toEqual(sorted);
  expect(['x', 'a/2'].sort(compareUnits)).toEqual(['a/2', 'x']);
});

test('no two units share a folder', () => {
  expect(unitFolderName('wordpress/1')).toBe('wordpress-1');
  expect(isServiceName(unitFolderName('wordpress/1'))).toBe(false);
});
