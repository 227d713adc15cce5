import { expect, test } from 'vitest';
import { optionsOf } from './options.ts';

test('each public setting is an option, whatever the publisher wrote into the schema', () => {
  const properties = {
    title: { type: 'string', default: 'My blog', description: 'Shown at the top' },
    workers: { type: ['integer', 'null'], default: 0 },
    anything: true,
  };
  expect(optionsOf({ publicSettings: { properties } })).toEqual([
    { name: 'title', type: 'string', initial: '"My blog"', description: 'Shown at the top' },
    { name: 'workers', type: null, initial: '0', description: '' },
    { name: 'anything', type: null, initial: null, description: '' },
  ]);
});

test('without a schema there are no options', () => {
  expect(optionsOf(null)).toEqual([]);
  expect(optionsOf({ publicSettings: true })).toEqual([]);
  expect(optionsOf({ publicSettings: { $ref: '#/$defs/all' } })).toEqual([]);
});
