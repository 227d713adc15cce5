import { expect, test } from 'vitest';
import { withDefaults } from './defaults.ts';

const schema = { properties: { title: { type: 'string', default: 'My blog' }, port: { type: 'integer' }, off: true } };

test.each<[string, unknown, Record<string, unknown>, Record<string, unknown>]>([
  ['a default', schema, {}, { title: 'My blog' }],
  ['a value over the default', schema, { title: 'Mine', port: 80 }, { title: 'Mine', port: 80 }],
  ['a value that equals the default', schema, { title: 'My blog' }, { title: 'My blog' }],
  ['a value that is null', schema, { title: null }, { title: null }],
  ['no schema', undefined, { title: 'Mine' }, { title: 'Mine' }],
  ['a schema without properties', { type: 'object' }, { port: 1 }, { port: 1 }],
  ['a schema that is not an object', [schema], {}, {}],
])('EN-76 settings with %s', (_name, given, settings, effective) => {
  expect({ ...withDefaults(given, settings) }).toEqual(effective);
});

test('EN-76 a setting can be named like a property of every object', () => {
  const properties = JSON.parse('{"__proto__":{"default":1},"constructor":{"default":2}}');
  expect(JSON.stringify(withDefaults({ properties }, JSON.parse('{"__proto__":3}')))).toBe(
    '{"__proto__":3,"constructor":2}',
  );
});
