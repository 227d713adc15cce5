import { describe, expect, test } from 'vitest';
import words from '#locales/en/activity.json' with { type: 'json' };
import { differencesOf } from './diff.ts';
import { factNames, factsOf } from './facts.ts';
import { versionOf } from './find-targets.ts';

test.each<[string, Record<string, unknown>, object]>([
  ['no details', {}, {}],
  ['texts and numbers', { name: 'db-1', count: 3 }, { name: 'db-1', count: 3 }],
  ['zero and an empty text', { name: '', count: 0 }, { name: '', count: 0 }],
  ['only known values', { name: 'db-1', password: 'x', vmId: 'y' }, { name: 'db-1' }],
  ['no objects, lists or truth values', { name: { first: 'x' }, role: ['admin'], count: true, reason: null }, {}],
  ['the name after a change', { after: { name: 'db-2' } }, { name: 'db-2' }],
  ['their own before those after a change', { name: 'db-1', after: { name: 'db-2' } }, { name: 'db-1' }],
  ['the version that it was changed to', { to: { version: '2.0' } }, { version: '2.0' }],
  ['from and to as texts', { from: 'viewer', to: 'admin' }, { from: 'viewer', to: 'admin' }],
  ['the number of messages, as earlier releases stored it', { messages: 12 }, { count: 12 }],
  ['the number of ended sessions', { sessionsEnded: 2 }, { count: 2 }],
  ['of two numbers, the count', { count: 1, messages: 12 }, { count: 1 }],
  ['nothing from a text where an object was stored', { after: 'db-1', to: 7 }, { to: 7 }],
])('the values of a sentence: %s', (_, details, expected) => {
  expect(factsOf({ details })).toEqual(expected);
});

test('the sentences have no values that are missing in the list', () => {
  // What the page adds to an entry's own values.
  const added = ['who', 'target', 'vm', 'shown', 'action', 'sentence'];
  const known = new Set<string>([...factNames, ...added]);
  const used = Object.entries(words)
    .filter(([key]) => /^(act|because|changed|folded|rejected|stopped)\./.test(key))
    .flatMap(([key, text]) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => ({ key, name })));
  expect(used.filter(({ name }) => !known.has(name))).toEqual([]);
});

test('the sentence about a port names the port and the machine', () => {
  expect(factsOf({ details: { machine: 'prod-1', port: '80/tcp' } })).toEqual({ machine: 'prod-1', port: '80/tcp' });
});

test.each([
  ['Acme.Lab.Probe-1.0.0.0', 'Acme.Lab.Probe', '1.0.0.0'],
  ['Acme.My-Handler.X-2.4', 'Acme.My-Handler.X', '2.4'],
  ['A-1', 'A', '1'],
])('the target %s is the version %s %s', (id, handler, version) => {
  expect(versionOf(id)).toEqual({ handler, version });
});

describe('differences', () => {
  test.each<[string, unknown, unknown, object[]]>([
    ['of two absent sides', null, undefined, []],
    ['of equal objects with another order of keys', { a: 1, b: 2 }, { b: 2, a: 1 }, []],
    [
      'of lists of objects, as one value',
      { a: [{ b: 1 }] },
      { a: [{ b: 2 }] },
      [{ path: ['a'], before: [{ b: 1 }], after: [{ b: 2 }] }],
    ],
    ['between absent and an empty object', { a: {} }, {}, [{ path: ['a'], before: {} }]],
    ['between an empty object and fields', { a: {} }, { a: { b: 1 } }, [{ path: ['a', 'b'], after: 1 }]],
    ['between an object and null', { a: { b: 1 } }, { a: null }, [{ path: ['a'], before: { b: 1 }, after: null }]],
    [
      'of what was cut, as one value',
      { a: { $cut: 9 } },
      { a: { $cut: 8 } },
      [{ path: ['a'], before: { $cut: 9 }, after: { $cut: 8 } }],
    ],
    [
      'between cut and whole',
      { a: { $cut: 9 } },
      { a: { b: 1 } },
      [{ path: ['a'], before: { $cut: 9 }, after: { b: 1 } }],
    ],
    [
      'of a field whose name begins with $ beside others',
      { $a: 1, b: 1 },
      { $a: 2, b: 1 },
      [{ path: ['$a'], before: 1, after: 2 }],
    ],
    ['of names with dots and slashes', { 'a.b/c': 1 }, { 'a.b/c': 2 }, [{ path: ['a.b/c'], before: 1, after: 2 }]],
    [
      'of names that every object has',
      { a: 1 },
      JSON.parse('{"a":1,"__proto__":{"x":1},"constructor":2}'),
      [
        { path: ['__proto__', 'x'], after: 1 },
        { path: ['constructor'], after: 2 },
      ],
    ],
    [
      'between 0, false and an empty text',
      { a: 0, b: false, c: '' },
      { a: false, b: '', c: 0 },
      [
        { path: ['a'], before: 0, after: false },
        { path: ['b'], before: false, after: '' },
        { path: ['c'], before: '', after: 0 },
      ],
    ],
    [
      'deep inside',
      { a: { b: { c: [1], d: 1 } } },
      { a: { b: { c: [1], d: 2 } } },
      [{ path: ['a', 'b', 'd'], before: 1, after: 2 }],
    ],
  ])('%s', (_, before, after, items) => {
    expect(differencesOf(before, after)).toEqual({ items, more: 0 });
  });

  test('are sorted by path, whatever the order in which the database stores names', () => {
    const [before, after] = [1, 2].map((value) => ({ zone: value, env: { b: value, a: value }, 'env-2': value }));
    const paths = differencesOf(before, after).items.map(({ path }) => path.join('/'));
    expect(paths).toEqual(['env/a', 'env/b', 'env-2', 'zone']);
  });

  test.each([
    [200, 200, 0],
    [201, 200, 1],
  ])('of %d fields: %d are listed and %d counted', (fields, listed, more) => {
    const many = Object.fromEntries(Array.from({ length: fields }, (_, n) => [`n${n}`, n]));
    const found = differencesOf({}, many);
    expect([found.items.length, found.more]).toEqual([listed, more]);
  });
});
