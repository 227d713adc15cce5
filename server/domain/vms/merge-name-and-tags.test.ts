import { expect, test } from 'vitest';
import { mergeNameAndTags, type NameAndTags } from './merge-name-and-tags.ts';

const seen: NameAndTags = { name: 'web-1', tags: { role: 'web', region: 'eu' } };

test.each<[string, Partial<NameAndTags>, Partial<NameAndTags>, NameAndTags | null]>([
  ['nothing', {}, {}, seen],
  ['only one person’s change', { name: 'web-2' }, {}, { ...seen, name: 'web-2' }],
  ['only the other’s change', {}, { tags: { role: 'db' } }, { name: 'web-1', tags: { role: 'db' } }],
  [
    'a name and a tag',
    { name: 'web-2' },
    { tags: { role: 'db', region: 'eu' } },
    { name: 'web-2', tags: { role: 'db', region: 'eu' } },
  ],
  [
    'two tags',
    { tags: { role: 'db', region: 'eu' } },
    { tags: { role: 'web', region: 'us' } },
    { name: 'web-1', tags: { role: 'db', region: 'us' } },
  ],
  [
    'two new tags',
    { tags: { ...seen.tags, a: '1' } },
    { tags: { ...seen.tags, b: '2' } },
    { name: 'web-1', tags: { ...seen.tags, a: '1', b: '2' } },
  ],
  [
    'a removed tag and a new one',
    { tags: { role: 'web' } },
    { tags: { ...seen.tags, a: '1' } },
    { name: 'web-1', tags: { role: 'web', a: '1' } },
  ],
  ['the same change twice', { name: 'web-2' }, { name: 'web-2' }, { ...seen, name: 'web-2' }],
  ['two names', { name: 'web-2' }, { name: 'web-3' }, null],
  ['two values of one tag', { tags: { ...seen.tags, role: 'db' } }, { tags: { ...seen.tags, role: 'cache' } }, null],
  ['a tag that is changed and removed', { tags: { ...seen.tags, role: 'db' } }, { tags: { region: 'eu' } }, null],
])('%s', (_, mine, theirs, expected) => {
  expect(mergeNameAndTags(seen, { ...seen, ...mine }, { ...seen, ...theirs })).toEqual(expected);
});
