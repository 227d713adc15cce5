import { describe, expect, test } from 'vitest';
import { fillTemplate, placeholdersOf } from '#protocol/template.ts';
import { coverageOf, translationWarnings } from './coverage.ts';
import { fallbacks, isWanted, negotiate } from './language.ts';
import { localizeMessage, type Messages } from './message.ts';

const en = { '1215': 'Failed to establish connection to {0} as {1}', done: 'Done.' };
const de = { '1215': '{1} fehler beim Anschluss an {0} herzustellen' };
const params = ['spo-sqldb.cloudapp.net', 'JoeAdmin'];
const resources = (files: Record<string, Messages>) => new Map(Object.entries(files));

describe('languages', () => {
  test.each([
    ['zh-TW', ['zh-TW', 'zh-Hant-TW', 'zh-Hant', 'zh']],
    ['zh-Hant-TW', ['zh-Hant-TW', 'zh-TW', 'zh-Hant', 'zh']],
    ['zh-CN', ['zh-CN', 'zh-Hans-CN', 'zh-Hans', 'zh']],
    ['de-AT', ['de-AT', 'de-Latn-AT', 'de-Latn', 'de']],
    ['de', ['de']],
    ['sr-Latn-RS', ['sr-Latn-RS', 'sr-Latn', 'sr']],
    ['de-CH-1996', ['de-CH-1996', 'de-CH', 'de-Latn-CH', 'de-Latn', 'de']],
    ['no language', []],
  ])('AZ-L3 %s falls back along %j', (tag, chain) => {
    expect(fallbacks(tag)).toEqual(chain);
  });

  const short = (list: string[]) => list.filter((tag) => !/-(Latn|Jpan)|-TW$/.test(tag));

  test.each([
    [undefined, []],
    ['', []],
    ['*', []],
    ['de-AT', ['de-AT', 'de']],
    ['DE-at', ['de-AT', 'de']],
    ['fr;q=0.5, ja, de;q=0.9', ['ja', 'de', 'fr']],
    ['de;q=0, ja', ['ja']],
    ['*;q=0.1, fr', ['fr']],
    ['zh-TW,zh;q=0.9,en-US;q=0.8,en;q=0.7', ['zh-Hant', 'zh', 'en-US', 'en']],
    [';;;,=,q=1,de;q=abc,ja;q=2,日本語,"fr",it', ['it']],
    ['de-AT;q=0.8;x=1, it', ['it']],
    [`${'x'.repeat(9)}-${'y'.repeat(9)}, ${'de,'.repeat(5000)}`, ['de']],
  ])('AZ-L3 %j wants %j', (header, wanted) => {
    expect(short(negotiate(header))).toEqual(wanted);
  });

  test('AZ-L3 a language that the reader chose goes first', () => {
    expect(short(negotiate('de-AT,en;q=0.5', 'ja'))).toEqual(['ja', 'de-AT', 'de', 'en']);
    expect(short(negotiate('de-AT', 'nonsense!'))).toEqual(['de-AT', 'de']);
  });

  test.each([
    ['de', ['de-AT', 'de'], true],
    ['de-DE', ['de-AT', 'de'], true],
    ['fr', ['de'], false],
    ['', ['de'], false],
    ['Lang[-locale]', ['de'], false],
  ])('AZ-L5 a text in %j for a reader of %j: %s', (lang, wanted, expected) => {
    expect(isWanted(lang, wanted)).toBe(expected);
  });
});

describe('templates', () => {
  test.each([
    [en['1215'], params, 'Failed to establish connection to spo-sqldb.cloudapp.net as JoeAdmin'],
    [de['1215'], params, 'JoeAdmin fehler beim Anschluss an spo-sqldb.cloudapp.net herzustellen'],
    ['<0> and <1>', ['a', 'b'], 'a and b'],
    ['{0} {1} {2}', ['a'], 'a {1} {2}'],
    ['<3>', ['a'], '<3>'],
    ['{0}', ['a', 'b', 'c'], 'a'],
    ['{{0}} is literal', ['a'], '{0} is literal'],
    ['{{{0}}}', ['a'], '{a}'],
    ['}}{{', [], '}{'],
    ['{0} {1}', ['{1}', '{0}'], '{1} {0}'],
    ['{0}', ['$& $1 {{'], '$& $1 {{'],
    ['{0}{0}', ['a'], 'aa'],
    ['{ 0 } {x} {', ['a'], '{ 0 } {x} {'],
  ])('AZ-L4 %j with %j is %j', (template, values, text) => {
    expect(fillTemplate(template, values)).toBe(text);
  });

  test('AZ-L6 placeholders are a set; literal braces are none', () => {
    expect(placeholdersOf('{1} <0> {1} {{2}}')).toEqual([0, 1]);
  });
});

describe('messages', () => {
  const message = { id: '1215', params };
  const formattedMessage = { lang: 'fr', message: 'Échec de la connexion' };
  const all = resources({ en, de });

  test.each([
    ['AZ-L3 falls back from de-AT to de', 'de-AT', 'de', 'resource'],
    ['AZ-L3 ends with en', 'ja', 'en', 'resource'],
    ['AZ-L5 a resource in a wanted language wins over the formatted text', 'fr,de;q=0.5', 'de', 'resource'],
    ['AZ-L5 then the formatted text where its language is wanted', 'fr-CA', 'fr', 'formatted'],
    ['AZ-L5 then the en resource', 'it', 'en', 'resource'],
    ['AZ-L5 a star asks for nothing in particular', '*', 'en', 'resource'],
  ])('%s', (_, header, lang, source) => {
    const wanted = negotiate(header);
    expect(localizeMessage({ message, formattedMessage, resources: all, wanted })).toMatchObject({ lang, source });
  });

  test('AZ-L3 zh-TW falls back to zh-Hant, then zh', () => {
    const wanted = negotiate('zh-TW');
    const two = resources({ en, zh: { '1215': '中' }, 'zh-Hant': { '1215': '繁' } });
    expect(localizeMessage({ message, resources: two, wanted })).toMatchObject({ lang: 'zh-Hant', text: '繁' });
    const one = resources({ en, zh: { '1215': '中' } });
    expect(localizeMessage({ message, resources: one, wanted })).toMatchObject({ lang: 'zh', text: '中' });
  });

  test('AZ-L3 fallback is per message id, not per file', () => {
    const wanted = negotiate('de');
    expect(localizeMessage({ message: { id: 'done', params: [] }, resources: all, wanted })).toEqual({
      text: 'Done.',
      lang: 'en',
      source: 'resource',
      id: 'done',
      params: [],
    });
  });

  test('AZ-L5 then the formatted text: no en resource knows the id', () => {
    const unknown = { id: 'other', params: [] };
    expect(localizeMessage({ message: unknown, formattedMessage, resources: all, wanted: ['it'] })).toEqual({
      text: 'Échec de la connexion',
      lang: 'fr',
      source: 'formatted',
      id: 'other',
      params: [],
    });
  });

  test('AZ-L5 an id that no resource knows shows the id and its params', () => {
    const result = localizeMessage({ message: { id: '77', params: ['a', 'b'] }, resources: all, wanted: [] });
    expect(result).toEqual({ text: '77: a, b', lang: 'und', source: 'id', id: '77', params: ['a', 'b'] });
    expect(localizeMessage({ message: { id: '77', params: [] }, resources: all, wanted: [] })?.text).toBe('77');
  });

  test('AZ-L5 a blank template or an inherited name is no message', () => {
    const blank = resources({ en: { x: ' ', y: '{0}' } });
    for (const id of ['x', 'constructor', '__proto__']) {
      expect(localizeMessage({ message: { id, params: [] }, resources: blank, wanted: [] })?.text).toBe(id);
    }
    expect(localizeMessage({ message: { id: 'y', params: [''] }, resources: blank, wanted: [] })?.text).toBe('y: ');
  });

  test('AZ-L5 without resource files the formatted message stands as it is, with its language', () => {
    const none = resources({});
    expect(localizeMessage({ formattedMessage, resources: none, wanted: ['de'] })).toEqual({
      text: 'Échec de la connexion',
      lang: 'fr',
      source: 'formatted',
    });
    const plain = { lang: '', message: 'plain {0}' };
    expect(localizeMessage({ formattedMessage: plain, resources: none, wanted: [] })).toMatchObject({
      text: 'plain {0}',
      lang: 'und',
    });
    expect(localizeMessage({ resources: none, wanted: [] })).toBeNull();
  });
});

describe('translations', () => {
  test('AZ-L6 other placeholders than in English are a warning with the id', () => {
    const german = { '1215': '{1} ohne Ziel', done: 'Fertig', own: 'x', empty: '' };
    const english = { ...en, empty: 'y' };
    const warnings = translationWarnings('de', german, english, (id) => `/${id}`);
    expect(warnings).toEqual([
      {
        code: 'placeholders_differ',
        path: '/1215',
        params: { id: '1215', lang: 'de', expected: '{0} {1}', found: '{1}' },
      },
      { code: 'message_not_in_english', path: '/own', params: { id: 'own', lang: 'de' } },
      { code: 'message_blank', path: '/empty', params: { id: 'empty', lang: 'de' } },
    ]);
    expect(translationWarnings('de', de, en, (id) => id)).toEqual([]);
  });

  test('coverage counts against English', () => {
    expect(coverageOf(resources({ en, de, ja: { own: 'x', done: '' } }))).toEqual([
      { lang: 'en', translated: 2, total: 2, missing: [] },
      { lang: 'de', translated: 1, total: 2, missing: ['done'] },
      { lang: 'ja', translated: 0, total: 2, missing: ['1215', 'done'] },
    ]);
  });
});
