import { describe, expect, test } from 'vitest';
import { transformer } from '#server/trpc/transformer.ts';
import { restoreDates } from './restore-dates.ts';

/** Returns data as a page receives it over the network. */
const received = (value: unknown) => restoreDates(JSON.parse(JSON.stringify(transformer.output.serialize(value))));

describe('data sent to pages', () => {
  test.each([
    ['nothing', undefined],
    ['a date', new Date(0)],
    ['plain data', { a: [1, null, { b: 'x' }], at: new Date(0), none: undefined }],
    ['dates in lists', [{ at: new Date(1) }, [new Date(2), { at: new Date(3) }]]],
    ['names of Object.prototype', [{ tags: { constructor: 'x', prototype: { at: new Date(1) } }, toString: 1 }]],
    ['names and texts that look like the format', { json: { dates: [['a']] }, dates: '2026-11-23T10:00:00.000Z' }],
  ])('%s arrives', (_, value) => {
    expect(received(value)).toEqual(value);
  });

  test('a property called __proto__ does not become a prototype', () => {
    const tags = JSON.parse('{"__proto__": {"admin": true}, "team": "a"}') as Record<string, unknown>;
    (Object.getOwnPropertyDescriptor(tags, '__proto__')?.value as Record<string, unknown>).at = new Date(5);
    const [row] = received([{ tags }]) as [{ tags: object }];
    expect(row.tags).toHaveProperty('team', 'a');
    expect(row.tags).not.toHaveProperty('admin');
    expect(Object.getOwnPropertyDescriptor(row.tags, '__proto__')?.value).toEqual({ admin: true, at: new Date(5) });
    expect({}).not.toHaveProperty('admin');
    expect({}).not.toHaveProperty('at');
  });

  test.each([new Map(), new Set(), Buffer.from('x'), new URL('http://a')])('%o is rejected', (value) => {
    expect(() => received({ list: [value] })).toThrow('at list.0');
  });
});
