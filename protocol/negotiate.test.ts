import { describe, expect, test } from 'vitest';
import { canonicalLanguage, fallbacks, negotiate, pickLanguage } from './index.ts';

const tags = (acceptLanguage?: string, chosenLanguage?: string) =>
  negotiate({ acceptLanguage, chosenLanguage }).map(({ tag }) => tag);

describe('a language tag', () => {
  test.each([
    ['de-at', 'de-AT'],
    ['DE_AT', 'de-AT'],
    [' zh-hant-tw ', 'zh-Hant-TW'],
    ['zh-CHT', 'zh-Hant'],
    ['zh-CHS', 'zh-Hans'],
    ['zh-cmn-Hans-CN', 'zh-Hans-CN'],
    ['zh-yue-HK', 'yue-HK'],
    ['iw', 'he'],
    ['en-u-ca-buddhist', 'en'],
    ['en-x-private', 'en'],
    ['und', null],
    ['und-DE', null],
    ['und-Latn-DE', null],
    ['UND_us', null],
    ['*', null],
    ['', null],
    ['x-private', null],
    ['Lang[-locale]', null],
    ['de-', null],
    ['x'.repeat(2_000), null],
    [`de-${'a1234567-'.repeat(20)}b1234567`, null],
  ])('%j has the canonical form %j', (text, tag) => {
    expect(canonicalLanguage(text)).toBe(tag);
  });

  test.each([
    ['zh-TW', ['zh-TW', 'zh-Hant-TW', 'zh-Hant', 'zh']],
    ['zh-Hant-TW', ['zh-Hant-TW', 'zh-TW', 'zh-Hant', 'zh']],
    ['zh-HK', ['zh-HK', 'zh-Hant-HK', 'zh-Hant', 'zh']],
    ['zh-MO', ['zh-MO', 'zh-Hant-MO', 'zh-Hant', 'zh']],
    ['zh-CHT', ['zh-Hant', 'zh']],
    ['zh-CN', ['zh-CN', 'zh-Hans-CN', 'zh-Hans', 'zh']],
    ['zh-SG', ['zh-SG', 'zh-Hans-SG', 'zh-Hans', 'zh']],
    ['zh', ['zh', 'zh-Hans']],
    ['de-AT', ['de-AT', 'de-Latn-AT', 'de-Latn', 'de']],
    ['de', ['de', 'de-Latn']],
    ['sr-Latn-RS', ['sr-Latn-RS', 'sr-Latn', 'sr']],
    ['de-CH-1996', ['de-CH-1996', 'de-CH', 'de-Latn-CH', 'de-Latn', 'de']],
    ['no language', []],
    ['und-DE', []],
  ])('AZ-L3 %s falls back along %j', (tag, chain) => {
    expect(fallbacks(tag)).toEqual(chain);
  });
});

describe('the languages that a reader wants', () => {
  test.each([
    ['no header', undefined, []],
    ['an empty header', '', []],
    ['RFC 9110 12.5.4: by weight', 'da, en-gb;q=0.8, en;q=0.7', ['da', 'en-GB', 'en']],
    ['RFC 9110 12.4.2: no weight is 1', 'fr;q=0.5, ja, de;q=0.9', ['ja', 'de', 'fr']],
    ['RFC 9110 12.4.2: equal weights keep their order', 'de;q=0.5, fr;q=0.5', ['de', 'fr']],
    ['RFC 9110 12.4.2: weight 0 rejects', 'de;q=0, ja', ['ja']],
    ['RFC 9110 12.4.2: q in upper or lower case', 'en;q=0.1, de;Q=0.5', ['de', 'en']],
    ['RFC 9110 5.6.3: white space around the weight', 'en;q=0.1 , de ; q=0.5', ['de', 'en']],
    ['RFC 9110 5.6.1: empty elements', ', ,de,,ja,', ['de', 'ja']],
    ['RFC 4647 2.1: tags in upper or lower case', 'DE-at', ['de-AT']],
    ['RFC 4647 3.4: a star alone requests no language', '*', []],
    ['RFC 4647 3.4: a star before other ranges is skipped', '*, de;q=0.5', ['de']],
    ['RFC 4647 3.4: a star after other ranges adds nothing', '*;q=0.1, fr', ['fr']],
    ['RFC 4647 3.2: stars inside a range are ignored', 'de-*-DE, *-CH', ['de-DE']],
    ['a weight above 1 counts as 1', 'en;q=0.9, de;q=2', ['de', 'en']],
    ['a weight that is not a number is malformed', 'de;q=abc, fr;q=, ja', ['ja']],
    ['other parameters are ignored', 'en;q=0.1, de;x=1;q=0.8', ['de', 'en']],
    ['the same language twice counts once', 'de, de;q=0.5', ['de']],
    ['malformed parts are ignored', ';;;,=,q=1,日本語,"fr",it', ['it']],
    ['tags that name no language are ignored', 'und-DE, und, und-Latn-DE, UND_us, de', ['de']],
    ['a long header is read up to a limit', `${'x'.repeat(9)}-${'y'.repeat(9)}, ${'de,'.repeat(5000)}`, ['de']],
  ])('AZ-L3 %s: %j requests %j', (_, header, wanted) => {
    expect(tags(header)).toEqual(wanted);
  });

  test('AZ-L3 a chosen language precedes the languages of the header', () => {
    expect(tags('de-AT,en;q=0.5', 'ja')).toEqual(['ja', 'de-AT', 'en']);
    expect(tags('ja;q=0, en', 'ja')).toEqual(['ja', 'en']);
    expect(tags('de-AT', 'nonsense!')).toEqual(['de-AT']);
  });
});

describe('the best available language', () => {
  test.each([
    ['fr, de;q=0.8, en;q=0.7', ['de', 'en'], 'de'],
    ['de-AT', ['de', 'en'], 'de'],
    ['de-AT, de;q=0', ['de', 'en'], 'en'],
    ['de-AT, de;q=0', ['de-AT', 'en'], 'de-AT'],
    ['en;q=0, de;q=0.1', ['de', 'en'], 'de'],
    ['*, de;q=0.5', ['de', 'en'], 'de'],
    ['de;q=2', ['de', 'en'], 'de'],
    ['de;Q=0.5', ['de', 'en'], 'de'],
    ['zh-Hant-CN-x-private1-private2', ['zh-Hant', 'zh', 'en'], 'zh-Hant'],
    ['zh-CN', ['zh-Hans', 'zh-Hant', 'en'], 'zh-Hans'],
    ['zh', ['zh-Hans', 'zh-Hant', 'en'], 'zh-Hans'],
    ['zh-HK', ['zh-Hans', 'zh-Hant', 'en'], 'zh-Hant'],
    ['zh-CHT', ['zh-Hans', 'zh-Hant', 'en'], 'zh-Hant'],
    ['zh-TW', ['zh-Hans', 'en'], 'en'],
    ['tlh', ['de', 'en'], 'en'],
  ])('AZ-L3 %s of %j is %s', (acceptLanguage, available, picked) => {
    expect(pickLanguage(negotiate({ acceptLanguage }), available)).toBe(picked);
  });

  test.each([
    ['de', 'de-AT', true],
    ['de-DE', 'de-AT', true],
    ['de-AT', 'de', true],
    ['zh-Hant', 'zh-TW', true],
    ['zh-HK', 'zh-TW', true],
    ['zh-CN', 'zh-TW', false],
    ['zh-TW', 'zh-CN', false],
    ['sr-Latn', 'sr', false],
    ['de', 'de-AT, de;q=0', false],
    ['de-DE', 'de-AT, de;q=0', false],
    ['fr', 'de', false],
    ['', 'de', false],
    ['und-DE', 'de', false],
    ['Lang[-locale]', 'de', false],
  ])('AZ-L5 whether a text in %j suits a reader of %j: %s', (text, acceptLanguage, expected) => {
    expect(negotiate({ acceptLanguage })[0]?.serves(text)).toBe(expected);
  });
});
