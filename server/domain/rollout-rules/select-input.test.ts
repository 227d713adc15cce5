import { describe, expect, test } from 'vitest';
import { filterInput, selectionInput } from './select-input.ts';

const filter = filterInput([
  { name: 'q', value: { kind: 'text', max: 10 } },
  { name: 'version', value: { kind: 'text', min: 2, max: 10, form: '^[0-9.*]+$', fault: 'version_form' } },
  { name: 'health', value: { kind: 'words', words: ['failed', 'healthy'] } },
  { name: 'silentMinutes', value: { kind: 'number', min: 1, max: 60 } },
  { name: 'sinceAfter', value: { kind: 'time' } },
  { name: 'tags', value: { kind: 'tags', max: 8, count: 2 } },
]);

describe('RO-1 filters', () => {
  test.each([
    [{ q: 'web' }, { q: 'web' }],
    [{ version: '1.0.*' }, { version: '1.0.*' }],
    [{ health: ['failed'] }, { health: ['failed'] }],
    [{ silentMinutes: 5 }, { silentMinutes: 5 }],
    [{ sinceAfter: '2026-03-01T12:00:00Z' }, { sinceAfter: '2026-03-01T12:00:00Z' }],
    [{ tags: ['env=prod'] }, { tags: [{ name: 'env', value: 'prod' }] }],
    [{ tags: ['env='] }, { tags: [{ name: 'env', value: '' }] }],
    [{ tags: ['env'] }, { tags: [{ name: 'env' }] }],
    [{ tags: ['a%253D=b=c'] }, { tags: [{ name: 'a%3D', value: 'b=c' }] }],
    [{ q: '', version: '', health: [], tags: [], sinceAfter: '' }, {}],
  ])('%j is %j', (given, read) => {
    expect(filter.parse(given)).toEqual(read);
  });

  test.each([
    { q: 'longer than ten' },
    { q: 'a\0' },
    { version: 'x' },
    { version: '1' },
    { health: ['fine'] },
    { health: 'failed' },
    { silentMinutes: 0 },
    { silentMinutes: '5' },
    { sinceAfter: 'yesterday' },
    { sinceAfter: '2026-03-01T12:00:00+01:00' },
    { tags: 'env=prod' },
    { tags: ['=prod'] },
    { tags: ['a', 'b', 'c'] },
    { tags: ['much-too-long'] },
    { silent: true },
    [],
    null,
  ])('rejects %j', (given) => {
    expect(filter.safeParse(given).success).toBe(false);
  });
});

describe('RO-1 selections', () => {
  const selection = selectionInput(filter);
  const id = '0000ABCD-0000-4000-8000-000000000001';

  test('ids are lowercase, and each one counts once', () => {
    expect(selection.parse({ ids: [id, id.toLowerCase()] })).toEqual({ ids: [id.toLowerCase()] });
    expect(selection.safeParse({ ids: ['web-1'] }).success).toBe(false);
  });

  test('every selection that is accepted has exactly one part that selects', () => {
    const parts = { ids: [id], all: true, include: { q: 'a' } };
    const names = Object.keys(parts) as (keyof typeof parts)[];
    for (let mask = 0; mask < 8; mask += 1) {
      const chosen = names.filter((_, index) => mask & (1 << index));
      const given = Object.fromEntries(chosen.map((name) => [name, parts[name]]));
      expect(selection.safeParse(given).success, chosen.join()).toBe(chosen.length === 1);
    }
  });

  test('only all and a filter can have exceptions', () => {
    const exclude = { tags: ['keep'] };
    const read = { tags: [{ name: 'keep' }] };
    expect(selection.parse({ all: true, exclude })).toEqual({ all: true, exclude: read });
    expect(selection.parse({ include: { q: 'a' }, exclude })).toEqual({ include: { q: 'a' }, exclude: read });
    expect(selection.safeParse({ ids: [id], exclude }).success).toBe(false);
    expect(selection.safeParse({ exclude }).success).toBe(false);
  });
});
