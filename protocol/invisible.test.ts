import { expect, test } from 'vitest';
import { hasInvisible } from './invisible.ts';

test.each([
  ['a zero-width space', 'web\u200b-1'],
  ['a word joiner', 'web\u2060-1'],
  ['a byte order mark', '\ufeffweb'],
  ['a soft hyphen', 'web\u00ad1'],
  ['a Hangul filler, which is a letter', 'web\u3164'],
  ['a tag character', 'web\u{e0041}'],
  ['a joiner at the end', 'web\u200d'],
  ['a joiner at the start', '\u200cweb'],
  ['a variation selector alone', 'web \ufe0f'],
  ['a direction mark in a left-to-right name', 'web\u200f-1'],
  ['a direction override', 'שרת\u202e10'],
])('%s is invisible', (_, text) => {
  expect(hasInvisible(text)).toBe(true);
});

test.each([
  ['a name', 'Müller, Zoë'],
  ['a Persian name with a non-joiner', 'علی\u200cرضا'],
  ['an emoji of several characters', '👩\u200d💻 and ❤\ufe0f'],
  ['a Hebrew name with a direction mark', 'חברה \u200fאחת'],
  ['a space', 'web 1'],
  ['a line break', 'web\n1'],
])('%s is visible', (_, text) => {
  expect(hasInvisible(text)).toBe(false);
});
