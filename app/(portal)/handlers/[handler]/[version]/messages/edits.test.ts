import { expect, test } from 'vitest';
import type { VersionResources } from '../version-data.ts';
import { collides, mergeEdits, withoutStored } from './edits.ts';

const german = (messages: Record<string, string>, revision = 3): VersionResources => ({
  handler: 'Acme.Lab.Probe',
  version: '1.0',
  languages: [
    {
      ...{
        lang: 'de',
        translated: 0,
        total: 0,
        missing: [],
        warnings: [],
        updatedAt: '',
        carriedFrom: null,
        updatedBy: 'Ada',
        revision,
      },
      messages: Object.entries(messages).map(([id, text]) => ({ id, text })),
    },
  ],
});

test.each([
  ['nobody else was there', { base: 'a', text: 'b' }, 'a', false],
  ['another text meanwhile', { base: 'a', text: 'b' }, 'c', true],
  ['both wrote the same', { base: 'a', text: 'b' }, 'b', false],
  ['mine was taken back', { base: 'a', text: 'a' }, 'c', false],
])('%s', (_, edit, saved, expected) => expect(collides(edit, saved)).toBe(expected));

test('edits of different messages are merged', () => {
  const edits = {
    '2': { base: 'zwei', text: 'ZWEI' },
    '10': { base: '', text: 'zehn' },
    '1': { base: 'eins', text: '' },
  };
  expect(mergeEdits(german({ '1': 'eins', '2': 'zwei', '3': 'von ihr' }), 'de', edits)).toEqual({
    file: [
      {
        version: 1,
        lang: 'de',
        messages: [
          { id: '2', text: 'ZWEI' },
          { id: '3', text: 'von ihr' },
          { id: '10', text: 'zehn' },
        ],
      },
    ],
    revision: 3,
    conflicts: [],
  });
  expect(mergeEdits(german({ '2': 'drei' }), 'de', edits).conflicts).toEqual(['2']);
});

test('reverting a text keeps the other person’s change; a new language has revision 0', () => {
  const edits = { a: { base: 'x', text: 'x' } };
  expect(mergeEdits(german({ a: 'new' }), 'de', edits).file).toMatchObject([{ messages: [{ id: 'a', text: 'new' }] }]);
  expect(mergeEdits(german({}), 'fr', {})).toMatchObject({ revision: 0, file: [{ lang: 'fr', messages: [] }] });
});

test('text typed while a language is being saved is kept, and is then based on the saved text', () => {
  const sent = { a: { base: 'x', text: 'y' }, b: { base: '', text: 'new' } };
  const now = { a: { base: 'x', text: 'y, and more' }, b: sent.b, c: { base: '', text: 'later' } };
  expect(withoutStored(now, sent)).toEqual({ a: { base: 'y', text: 'y, and more' }, c: { base: '', text: 'later' } });
});
