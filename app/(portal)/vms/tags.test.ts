import { describe, expect, test } from 'vitest';
import { readTags, writeTags } from './tags.ts';

describe('readTags', () => {
  test.each<[string, Record<string, string> | null]>([
    ['', {}],
    ['role=web, region=eu', { role: 'web', region: 'eu' }],
    [' role = web ,, ', { role: 'web' }],
    ['empty=', { empty: '' }],
    ['empty=, role=web', { empty: '', role: 'web' }],
    ['rule=a=b', { rule: 'a=b' }],
    ['note="a, b", role=web', { note: 'a, b', role: 'web' }],
    ['said="the ""old"" one"', { said: 'the "old" one' }],
    ['size=19"', { size: '19"' }],
    ['"a,b=c"=d', { 'a,b=c': 'd' }],
    ['web', null],
    ['=web', null],
    ['""=web', null],
    ['note="a, b', null],
    ['note="a" b', null],
  ])('%s', (text, tags) => {
    expect(readTags(text)).toEqual(tags);
  });
});

describe('writeTags', () => {
  test.each([
    [{}],
    [{ role: 'web', region: 'eu' }],
    [{ owners: 'Ada, Eve', rule: 'a=b', quote: '"yes", she said', empty: '', spaced: ' x ' }],
    [{ 'a,b=c': 'd', '"': '"', ' x': ',' }],
    [{ lines: 'one\ntwo' }],
  ])('%j is read as it was written', (tags) => {
    expect(readTags(writeTags(tags))).toEqual(tags);
  });
});
