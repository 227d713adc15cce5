import { expect, test } from 'vitest';
import { changesDirection, isolateText } from './direction.ts';

test.each([
  ['plain', 'plain'],
  ['שלום', 'שלום'],
  ['a\u200eb', 'a\u200eb'],
  ['a\u202eb', '\u2068a\u202eb\u202c\u2069'],
  ['a\u202eb\u202cc', '\u2068a\u202eb\u202cc\u2069'],
  ['a\u2069\u202eb', '\u2068a\u202eb\u202c\u2069'],
  ['\u2067a\u202cb', '\u2068\u2067ab\u2069\u2069'],
  ['\u202ea\nb', '\u2068\u202ea\u202c\nb\u2069'],
])('%j is shown as %j', (text, shown) => {
  expect(isolateText(text)).toBe(shown);
});

test.each(['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069'])(
  '%j changes the direction of text',
  (character) => expect(changesDirection(`web${character}1`)).toBe(true),
);
