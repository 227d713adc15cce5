import { beforeAll, describe, expect, test } from 'vitest';
import { negotiate } from '#protocol/index.ts';
import type { Services } from '#server/domain/context.ts';
import { testServices } from '#server/testing/context.ts';
import {
  describeSettings,
  exportXliff,
  getCoverage,
  isSettingWord,
  loadMatcher,
  messagesOfSchema,
  settingWordId,
} from './index.ts';
import { type GivenWords, givenWords } from './testing/words.ts';

const port = '/publicSettings/port';
const settingsSchema = {
  publicSettings: {
    type: 'object',
    properties: { port: { type: 'integer', title: 'Port' }, disks: { items: { properties: { size: {} } } } },
  },
  protectedSettings: { type: 'object', properties: { 'a/b': { type: 'string' } } },
};

let services: Services;
let words: GivenWords;
beforeAll(async () => {
  services = await testServices();
  words = await givenWords(services, {
    en: {
      ready: 'Ready on {0}',
      [settingWordId(port, 'title')]: 'Port',
      [settingWordId(port, 'description')]: 'Literal {{braces}}.',
      [settingWordId('/protectedSettings/a~1b', 'title')]: 'Key',
      [settingWordId('/publicSettings/disks/*/size', 'title')]: 'Size',
    },
    de: { [settingWordId(port, 'title')]: 'Anschluss', [settingWordId('/publicSettings/gone', 'title')]: 'Weg' },
    'de-AT': { [settingWordId('/protectedSettings/a~1b', 'title')]: 'Schlüssel' },
  });
});

const describeFor = (acceptLanguage: string, schema: typeof settingsSchema | null = settingsSchema) => {
  const { handler, version } = words;
  return describeSettings(services.db, { handler, version, settingsSchema: schema }, negotiate({ acceptLanguage }));
};

describe('titles and descriptions of settings', () => {
  test('of a schema become messages, including those behind references', () => {
    const host = { title: 'Host {0}', description: 'Where.' };
    const properties = {
      a: { $ref: '#/$defs/host', title: 'A' },
      b: { items: { $ref: '#/$defs/host' } },
      c: { title: ' ' },
    };
    expect(messagesOfSchema({ publicSettings: { title: 'All', properties, $defs: { host } } })).toEqual([
      { id: 'settings./publicSettings.title', text: 'All' },
      { id: 'settings./publicSettings/a.title', text: 'A' },
      { id: 'settings./publicSettings/a.description', text: 'Where.' },
      { id: 'settings./publicSettings/b/*.title', text: 'Host {{0}}' },
      { id: 'settings./publicSettings/b/*.description', text: 'Where.' },
    ]);
    expect(messagesOfSchema(null)).toEqual([]);
  });

  test('AZ-L3 are looked up like messages, each with its own fallback', async () => {
    expect(await describeFor('de-AT')).toEqual({
      [port]: { title: 'Anschluss', description: 'Literal {braces}.' },
      '/protectedSettings/a~1b': { title: 'Schlüssel' },
      '/publicSettings/disks/*/size': { title: 'Size' },
    });
    expect((await describeFor('fr'))[port]).toMatchObject({ title: 'Port' });
    expect(await describeFor('de', null)).toEqual({});
  });

  test('count as messages in the coverage and are part of an XLIFF export', async () => {
    const { handler, version, publisher } = words;
    const { languages } = await getCoverage(publisher, { handler, version });
    expect(languages.find(({ lang }) => lang === 'de')).toMatchObject({ translated: 1, total: 5 });
    const { text } = await exportXliff(publisher, { handler, version, lang: 'de' });
    expect(text).toContain('Anschluss');
  });

  test('are never recovered as the message of a handler', async () => {
    const { matcher } = await loadMatcher(services.db, words);
    expect(matcher?.match('Port')).toBeNull();
    expect(matcher?.match('Ready on a')).toMatchObject({ id: 'ready' });
  });

  test.each([
    [settingWordId('/publicSettings', 'title'), true],
    [settingWordId('/protectedSettings/a.title/b', 'description'), true],
    ['settings.saved', false],
    ['settings./publicSettingsX/a.title', false],
    ['settings./publicSettings/a', false],
    ['x settings./publicSettings/a.title', false],
  ])('%s is one: %s', (id, expected) => expect(isSettingWord(id)).toBe(expected));
});
