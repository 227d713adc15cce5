import { beforeAll, describe, expect, test } from 'vitest';
import { resources } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { writeCursor } from '#server/domain/cursor.ts';
import { testServices } from '#server/testing/context.ts';
import { coverageOf, translationWarnings } from './coverage.ts';
import {
  describeResources,
  findMessages,
  findOutdatedMatchers,
  getCoverage,
  getLanguage,
  getResources,
  listLanguages,
  loadMatcher,
} from './index.ts';
import { type GivenWords, givenWords, type Texts } from './testing/words.ts';

let services: Services;
beforeAll(async () => {
  services = await testServices();
});
const versionOf = ({ handler, version }: GivenWords) => ({ handler, version });

/** Languages with their texts, and the coverage of each: `[lang, translated, total, missing]`. */
type Case = [what: string, Readonly<Record<string, Texts>>, [string, number, number, string[]][]];
const cases: Case[] = [
  ['no language', {}, []],
  ['English alone', { en: { a: 'A', b: 'B' } }, [['en', 2, 2, []]]],
  [
    'a whole translation',
    { en: { a: 'A', b: 'B' }, de: { a: 'Ä', b: 'Be' } },
    [
      ['en', 2, 2, []],
      ['de', 2, 2, []],
    ],
  ],
  [
    'a half one, with an id of its own',
    { en: { a: 'A', b: 'B' }, de: { b: 'Be', z: 'Z' } },
    [
      ['en', 2, 2, []],
      ['de', 1, 2, ['a']],
    ],
  ],
  [
    'blank texts',
    { en: { a: 'A', b: ' \n', c: 'C' }, de: { a: '', b: 'Be', c: '\t' } },
    [
      ['en', 2, 2, []],
      ['de', 0, 2, ['a', 'c']],
    ],
  ],
  [
    'texts of white space that only Unicode knows',
    { en: { a: 'A', b: '\u3000' }, de: { a: '\u00a0', b: 'Be' } },
    [
      ['en', 1, 1, []],
      ['de', 0, 1, ['a']],
    ],
  ],
  [
    'an empty file',
    { en: { a: 'A' }, de: {} },
    [
      ['en', 1, 1, []],
      ['de', 0, 1, ['a']],
    ],
  ],
  [
    'no English yet',
    { fr: { a: 'A', b: 'B' }, de: { a: 'Ä', c: ' ' } },
    [
      ['de', 1, 1, []],
      ['fr', 2, 2, []],
    ],
  ],
  [
    'names that objects have anyway',
    { en: { valueOf: 'V', constructor: 'C' }, de: { a: 'Ä' } },
    [
      ['en', 2, 2, []],
      ['de', 0, 2, ['valueOf', 'constructor']],
    ],
  ],
];

describe('coverage', () => {
  test.each(cases)('of %s', (_, languages, expected) => {
    const found = coverageOf(new Map(Object.entries(languages)));
    const byLang = new Map(found.map((each) => [each.lang, each]));
    expect(byLang.size).toBe(expected.length);
    for (const [lang, translated, total, missing] of expected) {
      expect(byLang.get(lang)).toEqual({ lang, translated, total, missing });
    }
  });

  test.each(cases)('of %s is the same when the database counts', async (_, languages, expected) => {
    const words = await givenWords(services);
    const { publisher: ctx } = words;
    for (const [lang, messages] of Object.entries(languages)) {
      const row = { lang, messages, warnings: [], revision: 1, updatedAt: ctx.now, updatedBy: 'Ada' };
      await services.db.insert(resources).values({ ...versionOf(words), ...row });
    }
    const counted = await getCoverage(ctx, versionOf(words));
    expect(counted.languages.map(({ lang, translated, total }) => [lang, translated, total])).toEqual(
      expected.map(([lang, translated, total]) => [lang, translated, total]),
    );
    const { languages: listed } = await getResources(ctx, versionOf(words));
    expect(listed.map(({ lang, translated, total, missing }) => [lang, translated, total, missing])).toEqual(expected);
  });
});

describe('AZ-L6 warnings of a translation', () => {
  const english = { seven: '{0} of {1}', plain: 'Done', braces: '{{0}}', blank: ' ' };
  test.each<[lang: string, texts: Texts, warnings: [code: string, params?: object][]]>([
    ['de', { seven: '{1} von {0}', plain: 'Fertig' }, []],
    ['de', { seven: '<0> von <1>' }, []],
    ['de', { seven: '{0} und {0} von {1}' }, []],
    ['de', { seven: '{0}' }, [['placeholders_differ', { expected: '{0} {1}', found: '{0}' }]]],
    ['de', { seven: 'alle' }, [['placeholders_differ', { expected: '{0} {1}', found: '–' }]]],
    ['de', { plain: 'Fertig {0}' }, [['placeholders_differ', { expected: '–', found: '{0}' }]]],
    ['de', { braces: '{0}' }, [['placeholders_differ', { expected: '–', found: '{0}' }]]],
    ['de', { plain: ' ' }, [['message_blank', { id: 'plain', lang: 'de' }]]],
    ['de', { other: 'Anderes' }, [['message_not_in_english', { id: 'other', lang: 'de' }]]],
    ['de', { blank: 'Leer' }, [['message_not_in_english']]],
    ['de', { plain: 'Fertig {user}' }, [['placeholder_raw', { placeholder: '{user}' }]]],
    ['de', { other: '{0:D}' }, [['placeholder_raw'], ['message_not_in_english']]],
    ['en', { seven: '{0}', other: '{0} {1}' }, []],
    ['en', { plain: '', seven: '{0,10}' }, [['message_blank'], ['placeholder_raw']]],
  ])('%s %j', (lang, texts, warnings) => {
    const found = translationWarnings(lang, texts, english, (id) => `/${id}`);
    expect(found.map(({ code }) => code)).toEqual(warnings.map(([code]) => code));
    for (const [index, [, params]] of warnings.entries()) expect(found[index]?.params).toMatchObject(params ?? {});
    for (const { path, params } of found) expect(path).toBe(`/${params?.id}`);
  });

  test('are not about placeholders while there is no English', () => {
    expect(translationWarnings('de', { a: '{0}', b: ' ' }, undefined, () => '')).toMatchObject([
      { code: 'message_blank' },
    ]);
  });
});

describe('reading languages', () => {
  const tags = ['en', 'ar', 'de', 'de-AT', 'fr', 'zh-Hant'];
  let words: GivenWords;
  beforeAll(async () => {
    const texts = { a10: 'ten', a9: 'nine', b: 'B' };
    words = await givenWords(services, Object.fromEntries(tags.toReversed().map((lang) => [lang, texts])));
  });

  test('has English first and numbers in their order', async () => {
    const { languages } = await getResources(words.publisher, versionOf(words));
    expect(languages.map(({ lang }) => lang)).toEqual(tags);
    expect(languages[0]?.messages.map(({ id }) => id)).toEqual(['a9', 'a10', 'b']);
  });

  test.each([1, 2, 4, 6, 1_000])('in pages of %i has each language once, without its texts', async (limit) => {
    const found: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await listLanguages(words.publisher, { ...versionOf(words), limit, ...(cursor && { cursor }) });
      expect(page.items.length).toBeLessThanOrEqual(limit);
      for (const item of page.items) expect(item).not.toHaveProperty('messages');
      found.push(...page.items.map(({ lang }) => lang));
      cursor = page.nextCursor;
    }
    expect(found).toEqual(tags);
  });

  test('continues after a language that was removed in the meantime', async () => {
    const page = await listLanguages(words.publisher, { ...versionOf(words), cursor: writeCursor(['de-CH']) });
    expect(page.items.map(({ lang }) => lang)).toEqual(['fr', 'zh-Hant']);
    const broken = listLanguages(words.publisher, { ...versionOf(words), cursor: '?' });
    await expect(broken).rejects.toMatchObject({ kind: 'bad_request', code: 'cursor_invalid' });
  });

  test.each<[lang: string, found: string | null]>([
    ['de-AT', 'de-AT'],
    ['DE-at', 'de-AT'],
    ['zh-hant', 'zh-Hant'],
    ['de-CH', null],
    ['?', null],
  ])('by the name %s: %s', async (lang, found) => {
    const read = getLanguage(words.publisher, { ...versionOf(words), lang });
    if (found === null) await expect(read).rejects.toMatchObject({ kind: 'not_found', code: 'not_found' });
    else expect(await read).toMatchObject({ lang: found, translated: 3, messages: [{ id: 'a9' }, {}, {}] });
  });

  test('lists as many missing ids as fit, and says how many more there are', async () => {
    const large = await givenWords(services);
    const ids = Array.from({ length: 15_000 }, (_, n) => `${n}`.padEnd(100, '.'));
    await large.set('en', Object.fromEntries(ids.map((id) => [id, 'x'])));
    await large.set('de', {});
    const german = await getLanguage(large.publisher, { ...versionOf(large), lang: 'de' });
    expect([german.translated, german.total]).toEqual([0, 15_000]);
    expect(german.missing.length + (german.leftOut?.missing ?? 0)).toBe(15_000);
    expect(german.leftOut?.missing).toBeGreaterThan(1_000);
    const { languages } = await describeResources(large.publisher, versionOf(large));
    expect(languages.map(({ lang, leftOut }) => [lang, leftOut?.missing])).toEqual([
      ['en', undefined],
      ['de', german.leftOut?.missing],
    ]);
  });
});

describe('loading templates', () => {
  const reader = [{ fallbacks: ['de-AT', 'de'], serves: () => false }] as unknown as Parameters<typeof findMessages>[2];

  test('has the preferred languages and English only, and each version by its name', async () => {
    const [one, other] = await Promise.all([
      givenWords(services, { en: { a: 'A', b: 'B' }, de: { a: 'Ä' }, fr: { a: 'À' } }),
      givenWords(services, { en: { a: 'other' } }),
    ]);
    const asked = [one, other].map((words) => ({ ...versionOf(words), ids: ['a', 'missing'] }));
    const found = await findMessages(services.db, asked, reader);
    expect(Object.fromEntries(found.get(`${one.handler}-${one.version}`) ?? [])).toEqual({
      en: { a: 'A' },
      de: { a: 'Ä' },
    });
    expect(Object.fromEntries(found.get(`${other.handler}-${other.version}`) ?? [])).toEqual({ en: { a: 'other' } });
  });

  test('sends no query if no id is requested', async () => {
    const words = await givenWords(services, { en: { a: 'A' } });
    expect(await findMessages(services.db, [{ ...versionOf(words), ids: [] }], reader)).toEqual(new Map());
    expect(await findMessages(services.db, [], reader)).toEqual(new Map());
  });

  test('a matcher is outdated once a language is added, changed or removed', async () => {
    const words = await givenWords(services, { en: { a: 'Disk {0} is full.' } });
    const other = await givenWords(services, { en: { a: 'Calm.' } });
    const load = () => loadMatcher(services.db, versionOf(words));
    const untouched = await loadMatcher(services.db, versionOf(other));
    const key = `${words.handler}-${words.version}`;
    const outdated = async (loaded: Awaited<ReturnType<typeof load>>) =>
      findOutdatedMatchers(services.db, [loaded, untouched]);

    const first = await load();
    expect(first.matcher?.match('Disk sda is full.')).toEqual({ id: 'a', params: ['sda'] });
    expect(first).toMatchObject({ characters: 'Disk {0} is full.'.length, revisions: 'en 1' });
    expect(await outdated(first)).toEqual([]);
    await words.set('de', { a: 'Platte {0} ist voll.' });
    expect(await outdated(first)).toEqual([key]);
    const second = await load();
    await words.set('en', { a: 'Disk {0} is nearly full.' });
    expect(await outdated(second)).toEqual([key]);
    const third = await load();
    expect(third.matcher?.match('Platte sda ist voll.')).toEqual({ id: 'a', params: ['sda'] });
    expect(await outdated(third)).toEqual([]);
  });

  test('a version without languages has no matcher, and needs a matcher with its first language', async () => {
    const words = await givenWords(services);
    const none = await loadMatcher(services.db, versionOf(words));
    expect(none).toMatchObject({ matcher: null, characters: 0, revisions: '' });
    expect(await findOutdatedMatchers(services.db, [none])).toEqual([]);
    await words.set('en', { a: 'A' });
    expect(await findOutdatedMatchers(services.db, [none])).toHaveLength(1);
    expect(await findOutdatedMatchers(services.db, [])).toEqual([]);
  });
});
