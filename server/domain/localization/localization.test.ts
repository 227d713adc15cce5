import { describe, expect, test } from 'vitest';
import { fillTemplate, negotiate, placeholdersOf, rawPlaceholdersOf } from '#protocol/index.ts';
import { coverageOf, translationWarnings } from './coverage.ts';
import { localizeMessage, type Messages } from './message.ts';

const en = { '1215': 'Failed to establish connection to {0} as {1}', done: 'Done.' };
const de = { '1215': '{1} fehler beim Anschluss an {0} herzustellen' };
const params = ['spo-sqldb.cloudapp.net', 'JoeAdmin'];
const resources = (files: Record<string, Messages>) => new Map(Object.entries(files));

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

  test('AZ-L6 placeholders form a set, without literal braces', () => {
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
    ['AZ-L5 a resource in the language wanted most wins', 'de,fr;q=0.5', 'de', 'resource'],
    ['AZ-L5 the formatted text wins where it is in the language wanted most', 'fr,de;q=0.5', 'fr', 'formatted'],
    ['AZ-L5 the formatted text beats an English resource that is wanted less', 'fr-FR,fr,en', 'fr', 'formatted'],
    ['AZ-L5 a resource in English wins where English is wanted more', 'en,fr;q=0.5', 'en', 'resource'],
    ['AZ-L5 the formatted text may be in another region', 'fr-CA', 'fr', 'formatted'],
    ['AZ-L5 a refused language is not shown while another is there', 'de-AT,de;q=0', 'en', 'resource'],
    ['AZ-L5 then the en resource', 'it', 'en', 'resource'],
    ['AZ-L5 a star asks for nothing in particular', '*', 'en', 'resource'],
  ])('%s', (_, header, lang, source) => {
    const wanted = negotiate({ acceptLanguage: header });
    expect(localizeMessage({ message, formattedMessage, resources: all, wanted })).toMatchObject({ lang, source });
  });

  test.each([
    ['zh-TW', 'zh-CN', 'en'],
    ['zh-TW', 'zh-HK', 'zh-HK'],
    ['zh', 'zh-SG', 'zh-SG'],
    ['ja', 'und-JP', 'en'],
  ])('AZ-L5 a reader of %s with a text in %s gets %s', (acceptLanguage, lang, shown) => {
    const text = { lang, message: '文字' };
    const found = localizeMessage({
      message,
      formattedMessage: text,
      resources: all,
      wanted: negotiate({ acceptLanguage }),
    });
    expect(found?.lang).toBe(shown);
  });

  test('AZ-L3 zh-TW falls back to zh-Hant, then zh', () => {
    const wanted = negotiate({ acceptLanguage: 'zh-TW' });
    const two = resources({ en, zh: { '1215': '中' }, 'zh-Hant': { '1215': '繁' } });
    expect(localizeMessage({ message, resources: two, wanted })).toMatchObject({ lang: 'zh-Hant', text: '繁' });
    const one = resources({ en, zh: { '1215': '中' } });
    expect(localizeMessage({ message, resources: one, wanted })).toMatchObject({ lang: 'zh', text: '中' });
  });

  test('AZ-L3 fallback is per message id, not per file', () => {
    const wanted = negotiate({ acceptLanguage: 'de' });
    expect(localizeMessage({ message: { id: 'done', params: [] }, resources: all, wanted })).toEqual({
      text: 'Done.',
      lang: 'en',
      source: 'resource',
      id: 'done',
      params: [],
    });
  });

  test('AZ-L5 falls back to the formatted text if no en resource has the id', () => {
    const unknown = { id: 'other', params: [] };
    expect(
      localizeMessage({
        message: unknown,
        formattedMessage,
        resources: all,
        wanted: negotiate({ acceptLanguage: 'it' }),
      }),
    ).toEqual({
      text: 'Échec de la connexion',
      lang: 'fr',
      source: 'formatted',
      id: 'other',
      params: [],
    });
  });

  test('AZ-L5 an id that no resource has shows the id and its params', () => {
    const result = localizeMessage({ message: { id: '77', params: ['a', 'b'] }, resources: all, wanted: [] });
    expect(result).toEqual({ text: '77: a, b', lang: 'und', source: 'id', id: '77', params: ['a', 'b'] });
    expect(localizeMessage({ message: { id: '77', params: [] }, resources: all, wanted: [] })?.text).toBe('77');
  });

  test('AZ-L5 a blank template or an inherited property name is not a message', () => {
    const blank = resources({ en: { x: ' ', y: '{0}' } });
    for (const id of ['x', 'constructor', '__proto__']) {
      expect(localizeMessage({ message: { id, params: [] }, resources: blank, wanted: [] })?.text).toBe(id);
    }
    expect(localizeMessage({ message: { id: 'y', params: [''] }, resources: blank, wanted: [] })?.text).toBe('y: ');
  });

  test('AZ-L5 without resource files the formatted message is shown with its language', () => {
    const none = resources({});
    expect(localizeMessage({ formattedMessage, resources: none, wanted: negotiate({ acceptLanguage: 'de' }) })).toEqual(
      {
        text: 'Échec de la connexion',
        lang: 'fr',
        source: 'formatted',
      },
    );
    const plain = { lang: '', message: 'plain {0}' };
    expect(localizeMessage({ formattedMessage: plain, resources: none, wanted: [] })).toMatchObject({
      text: 'plain {0}',
      lang: 'und',
    });
    expect(localizeMessage({ resources: none, wanted: [] })).toBeNull();
  });
});

describe('long texts', () => {
  const long = 'x'.repeat(1_000);
  const shown = (template: string, params: string[]) =>
    localizeMessage({ message: { id: 'm', params }, resources: resources({ en: { m: template } }), wanted: [] });

  test('a filled text is truncated at 16 KiB, marked and reported as truncated', () => {
    const found = shown('{0}'.repeat(5_461), [long]);
    expect(Buffer.byteLength(found?.text ?? '')).toBe(16 * 1024);
    expect(found).toMatchObject({ text: expect.stringMatching(/^x+…$/), truncated: true });
  });

  test('a character is never split', () => {
    const text = shown('{0}'.repeat(64), ['😀'.repeat(100)])?.text ?? '';
    expect(text.isWellFormed()).toBe(true);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(16 * 1024);
  });

  test('a text of 16 KiB is complete, and so are the params of a short text', () => {
    expect(shown('{0}'.repeat(16), ['y'.repeat(1_024)])).not.toHaveProperty('truncated');
    expect(shown('{0}', ['a', 'b'])).toMatchObject({ text: 'a', params: ['a', 'b'] });
  });

  test('AZ-L5 an id with many params is truncated too', () => {
    const params = Array.from({ length: 1_000 }, () => long);
    const found = localizeMessage({ message: { id: '77', params }, resources: resources({}), wanted: [] });
    expect(Buffer.byteLength(found?.text ?? '')).toBeLessThanOrEqual(16 * 1024);
    expect(found?.truncated).toBe(true);
  });
});

describe('translations', () => {
  test.each([
    ['Done {0:D}', ['{0:D}']],
    ['{0,10} of {1}', ['{0,10}']],
    ['{ 0 } and {user}', ['{ 0 }', '{user}']],
    ['{12345}', ['{12345}']],
    ['{0} <1> {{0:D}} {} { text here }', []],
  ])('a placeholder that is never filled in is a warning: %s', (text, raw) => {
    expect(rawPlaceholdersOf(text)).toEqual(raw);
    const warnings = translationWarnings('en', { m: text }, { m: text }, () => '/p');
    const params = { id: 'm', lang: 'en', placeholder: raw[0] };
    expect(warnings).toEqual(raw.length === 0 ? [] : [{ code: 'placeholder_raw', path: '/p', params }]);
  });

  test('AZ-L6 placeholders that differ from English are a warning with the id', () => {
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

  test('coverage is relative to English', () => {
    expect(coverageOf(resources({ en, de, ja: { own: 'x', done: '' } }))).toEqual([
      { lang: 'en', translated: 2, total: 2, missing: [] },
      { lang: 'de', translated: 1, total: 2, missing: ['done'] },
      { lang: 'ja', translated: 0, total: 2, missing: ['1215', 'done'] },
    ]);
  });
});
