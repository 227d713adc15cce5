import superjson from 'superjson';
import { describe, expect, test } from 'vitest';
import { transformer } from './transformer.ts';

/** Returns what a page receives after data is sent over the network and parsed by the library. */
const received = (value: unknown) =>
  superjson.deserialize(JSON.parse(JSON.stringify(transformer.output.serialize(value))));

describe('data sent to pages', () => {
  test.each([
    ['plain data', { a: [1, null, { b: 'x' }], at: new Date(0), none: undefined }],
    [
      'names that the library refuses',
      [{ tags: { constructor: 'x', prototype: { constructor: 1 } }, at: new Date(1) }],
    ],
    ['names that look like replacements', { '~constructor': 1, '~~constructor': 2, constructor: 3 }],
  ])('%s arrives', (_, value) => {
    expect(received(value)).toEqual(value);
  });

  test('a property called __proto__ does not become a prototype', () => {
    const [row] = received([{ tags: JSON.parse('{"__proto__": {"admin": true}, "team": "a"}') }]) as [{ tags: object }];
    expect(row.tags).toHaveProperty('team', 'a');
    expect(row.tags).not.toHaveProperty('admin');
    expect({}).not.toHaveProperty('admin');
  });
});
