import { describe, expect, test } from 'vitest';
import { TemplatePattern } from './template-pattern.ts';

const paramsOf = (template: string, text: string) => new TemplatePattern('id', template).fit(text);
const paramsWhenCut = (template: string, text: string) => new TemplatePattern('id', template).fitCut(text);

describe('a long literal between two params', () => {
  // The beginning of this text is repeated inside it, so a search that goes back too far or not far enough fails.
  const long = `${'ab'.repeat(40)}c`;
  test.each<[what: string, text: string, params: string[] | 'unclear' | null]>([
    ['once', `x${long}y`, ['x', 'y']],
    ['after its own beginning', `x${'ab'.repeat(3)}${long}y`, ['xababab', 'y']],
    ['after half of itself', `${long.slice(0, 41)}${long}y`, [long.slice(0, 41), 'y']],
    ['without its last letter', `x${long.slice(0, -1)}y`, null],
    ['with another last letter', `x${long.slice(0, -1)}dy`, null],
    ['twice', `x${long}y${long}z`, 'unclear'],
    ['and nothing else', long, ['', '']],
  ])('%s', (_, text, params) => {
    expect(paramsOf(`{0}${long}{1}`, text)).toEqual(params);
  });

  test.each([63, 64, 65, 66])('of %i letters is found at the same place as a shorter literal', (length) => {
    const literal = `${'a'.repeat(length - 1)}b`;
    expect(paramsOf(`{0}${literal}{1}`, `aa${literal}bb`)).toEqual(['aa', 'bb']);
    expect(paramsOf(`{0}${literal}{1}`, `bb${literal.slice(1)}b`)).toBeNull();
  });
});

describe('the words of a template', () => {
  test.each<[template: string, words: boolean, wordsWhenCut: boolean]>([
    ['', false, false],
    ['{0}: {1}', false, false],
    ['a {0}', false, false],
    ['an {0}', true, true],
    ['a{0}b', true, false],
    ['{0} failed', true, false],
    ['失敗 {0}', true, true],
    ['42 {0}', true, true],
  ])('%j has words: %s, and when it is truncated: %s', (template, words, wordsWhenCut) => {
    const { hasWords, hasWordsWhenCut } = new TemplatePattern('id', template);
    expect({ hasWords, hasWordsWhenCut }).toEqual({ hasWords: words, hasWordsWhenCut: wordsWhenCut });
  });
});

test.each<[template: string, text: string, params: string[] | 'unclear' | null]>([
  ['Disk {0}', 'Disk sd', ['sd']],
  ['Disk {0} is full', 'Disk sd', 'unclear'],
  ['Disk {0} is {1}', 'Disk sd is f', ['sd', 'f']],
  ['Disk {0} is {1}', 'Disk sd', null],
  ['Disk {1}', 'Disk sd', 'unclear'],
])('%j fits the beginning %j as %j', (template, text, params) => {
  expect(paramsWhenCut(template, text)).toEqual(params);
});
