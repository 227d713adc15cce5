import { eq } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { handlerVersions, resources } from '#db/schema/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { testServices } from '#server/testing/context.ts';
import {
  describeResources,
  exportXliff,
  getCoverage,
  getLanguage,
  getResources,
  importXliff,
  listLanguages,
  listUnknownMessages,
  previewMessage,
  publishVersion,
  setResources,
} from './index.ts';
import { changesBy, contextOf, entriesOf, fileOf, type GivenWords, givenWords } from './testing/words.ts';

let services: Services;
let words: GivenWords;
beforeAll(async () => {
  services = await testServices();
});
beforeEach(async () => {
  words = await givenWords(services, { en: { a: 'Disk {0}', b: 'Bold' }, de: { a: 'Platte {0}' } });
});

const bytes = (text: string) => new TextEncoder().encode(text);
const exported = async () => (await exportXliff(words.publisher, { ...reference(), lang: 'de' })).text;
const reference = () => ({ handler: words.handler, version: words.version });

type Verb = (ctx: Context, input: never) => Promise<unknown>;
/** Each verb, and the input that it needs in addition to the version. */
const writing: Record<string, [Verb, () => Promise<object>]> = {
  setResources: [setResources, async () => ({ lang: 'fr', file: fileOf('fr', { a: 'Disque {0}' }) })],
  importXliff: [importXliff, async () => ({ lang: 'de', file: bytes(await exported()) })],
  publishVersion: [publishVersion, async () => ({})],
};
const reading: Record<string, [Verb, () => Promise<object>]> = {
  getResources: [getResources, async () => ({})],
  describeResources: [describeResources, async () => ({})],
  listLanguages: [listLanguages, async () => ({})],
  getLanguage: [getLanguage, async () => ({ lang: 'de' })],
  getCoverage: [getCoverage, async () => ({})],
  exportXliff: [exportXliff, async () => ({ lang: 'de' })],
  previewMessage: [previewMessage, async () => ({ readers: ['de'] })],
  listUnknownMessages: [listUnknownMessages, async () => ({})],
};
const call = async (name: string, ctx: Context, changed: object = {}) => {
  const [verb, more] = writing[name] ?? reading[name] ?? [];
  if (verb === undefined || more === undefined) throw new Error(`${name} is not a verb`);
  return verb(ctx, { ...reference(), ...(await more()), ...changed } as never);
};

describe('who may change the texts of a version', () => {
  test.each(Object.keys(writing))('%s: publishers of the namespace and administrators', async (name) => {
    for (const role of ['viewer', 'operator'] as const) {
      const forbidden = { kind: 'forbidden', code: 'forbidden', params: { role: 'publisher' } };
      await expect(call(name, await contextOf(services, role, ['Acme.Words']))).rejects.toMatchObject(forbidden);
    }
    const stranger = await contextOf(services, 'publisher', ['Acme', 'Acme.Words.Probe']);
    await expect(call(name, stranger)).rejects.toMatchObject({ code: 'namespace_forbidden' });
    await expect(call(name, await contextOf(services, null))).rejects.toMatchObject({ kind: 'unauthenticated' });
    await expect(call(name, words.publisher)).resolves.toBeTruthy();
    await expect(call(name, await contextOf(services, 'admin'))).resolves.toBeTruthy();
  });

  test.each(Object.keys(reading))('%s: everyone who is signed in', async (name) => {
    for (const role of ['viewer', 'operator', 'publisher', 'admin'] as const) {
      await expect(call(name, await contextOf(services, role))).resolves.toBeTruthy();
    }
    await expect(call(name, await contextOf(services, null))).rejects.toMatchObject({ kind: 'unauthenticated' });
  });

  test('an invalid handler belongs to no publisher', async () => {
    for (const handler of ['Acme', 'Acme.Words.', '..']) {
      await expect(call('publishVersion', words.publisher, { handler })).rejects.toMatchObject({
        code: 'namespace_forbidden',
      });
    }
  });
});

describe('bad input is named by its path', () => {
  test.each<[name: string, changed: object, fault: object]>([
    ['setResources', { handler: '' }, { path: '/handler', code: 'field_empty' }],
    ['setResources', { lang: '' }, { path: '/lang', code: 'field_empty' }],
    ['setResources', { lang: 'x'.repeat(101) }, { path: '/lang', code: 'field_too_long' }],
    ['setResources', { revision: -1 }, { path: '/revision', code: 'field_too_small' }],
    ['setResources', { revision: '1' }, { path: '/revision', code: 'field_not_number' }],
    ['importXliff', { file: 'text' }, { path: '/file' }],
    ['importXliff', { dryRun: 'yes' }, { path: '/dryRun', code: 'field_not_boolean' }],
    ['importXliff', { lang: 'not a language' }, { path: '/lang', code: 'language_tag' }],
    ['exportXliff', { lang: '?' }, { path: '/lang', code: 'language_tag' }],
    ['exportXliff', { xliff: '2.0' }, { path: '/xliff', code: 'field_choice', params: { choices: '2.1, 1.2' } }],
    ['publishVersion', { version: undefined }, { path: '/version', code: 'field_missing' }],
    ['getResources', { version: 'x'.repeat(65) }, { path: '/version', code: 'field_too_long' }],
    ['listLanguages', { limit: 0 }, { path: '/limit', code: 'field_too_small' }],
    ['listLanguages', { limit: 1_001 }, { path: '/limit', code: 'field_too_big' }],
    ['listLanguages', { cursor: 'x'.repeat(201) }, { path: '/cursor', code: 'field_too_long' }],
    ['previewMessage', { readers: [] }, { path: '/readers', code: 'field_too_few', params: { minimum: 1 } }],
    ['previewMessage', { readers: Array(21).fill('de') }, { path: '/readers', code: 'field_too_many' }],
    ['previewMessage', { message: { params: [] } }, { path: '/message/id', code: 'field_missing' }],
    ['previewMessage', { message: { id: 'a', params: [1] } }, { path: '/message/params/0', code: 'field_not_text' }],
    ['previewMessage', { formattedMessage: { message: 'x' } }, { path: '/formattedMessage/lang' }],
    ['listUnknownMessages', { lang: '' }, { path: '/lang', code: 'field_empty' }],
    ['listUnknownMessages', { handler: 'x'.repeat(193) }, { path: '/handler', code: 'field_too_long' }],
  ])('%s %j', async (name, changed, fault) => {
    const expected = { kind: 'unprocessable', code: 'invalid', faults: [fault] };
    await expect(call(name, words.publisher, changed)).rejects.toMatchObject(expected);
  });

  test.each([...Object.keys(writing), ...Object.keys(reading)].filter((name) => name !== 'listUnknownMessages'))(
    '%s of an unknown version: 404',
    async (name) => {
      for (const version of ['9.9', 'newest']) {
        const unknown = { kind: 'not_found', code: 'version_unknown', params: { handler: words.handler, version } };
        await expect(call(name, words.publisher, { version }), version).rejects.toMatchObject(unknown);
      }
    },
  );

  test('English can be neither exported as a translation nor imported', async () => {
    const english = { kind: 'unprocessable', code: 'xliff_into_english' };
    for (const lang of ['en', 'EN']) {
      await expect(call('exportXliff', words.publisher, { lang })).rejects.toMatchObject(english);
      await expect(call('importXliff', words.publisher, { lang })).rejects.toMatchObject(english);
    }
  });
});

describe('setResources', () => {
  const stored = async (lang: string) =>
    (await services.db.select().from(resources).where(eq(resources.handler, words.handler))).find(
      (row) => row.lang === lang,
    );

  test('stores texts, author, time and a revision that increases with each change', async () => {
    const now = new Date('2030-01-01T10:00:00Z');
    const file = fileOf('de', { a: 'Laufwerk {0}' });
    const answer = await setResources({ ...words.publisher, now }, { ...reference(), lang: 'de', file });
    expect(answer).toEqual({ lang: 'de', messages: 1, revision: 2, warnings: [] });
    expect(await stored('de')).toMatchObject({
      ...{ messages: { a: 'Laufwerk {0}' }, revision: 2, updatedAt: now, updatedBy: 'Test publisher' },
    });
    expect(await stored('en')).toMatchObject({ revision: 1 });
  });

  test('records the ids that were added, changed and removed, twenty of each, and announces the handler', async () => {
    const many = (prefix: string, text: string) =>
      Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`${prefix}${n}`, text]));
    await words.set('en', { ...many('gone', 'x'), ...many('kept', 'x') });
    const announced = await changesBy(services, words.handler, () =>
      words.set('en', { ...many('kept', 'y'), ...many('new', 'x'), same: 'x' }),
    );
    expect(announced).toBe(1);
    const entry = (await entriesOf(services, words)).at(-1);
    expect(entry).toMatchObject({
      ...{ action: 'resources.set', actorName: 'Test publisher', before: { messages: 50 } },
      details: { ...reference(), lang: 'en', count: 51 },
    });
    const { added, changed, removed, messages } = (entry?.after ?? {}) as Record<string, string[]>;
    expect(messages).toBe(51);
    expect([added?.length, changed?.length, removed?.length]).toEqual([20, 20, 20]);
    expect([added?.[0], changed?.[0], removed?.[0]]).toEqual(['new0', 'kept0', 'gone0']);
  });

  test.each<[seen: number | undefined, outcome: string]>([
    [undefined, 'stored'],
    [1, 'stored'],
    [0, 'resources_moved_on'],
    [2, 'resources_moved_on'],
  ])('of a language at revision 1 with the revision %s: %s', async (revision, outcome) => {
    const input = { ...reference(), lang: 'de', file: fileOf('de', {}), ...(revision !== undefined && { revision }) };
    const set = setResources(words.publisher, input);
    if (outcome === 'stored') return expect(set).resolves.toMatchObject({ revision: 2 });
    await expect(set).rejects.toMatchObject({
      ...{ kind: 'precondition_failed', code: outcome, params: { lang: 'de', who: 'Test publisher', revision: 1 } },
    });
    expect(await stored('de')).toMatchObject({ messages: { a: 'Platte {0}' }, revision: 1 });
  });

  test('of a new language expects revision 0', async () => {
    const input = { ...reference(), lang: 'fr', file: fileOf('fr', {}) };
    await expect(setResources(words.publisher, { ...input, revision: 1 })).rejects.toMatchObject({
      ...{ code: 'resources_moved_on', params: { lang: 'fr', who: '–', revision: 0 } },
    });
    expect(await setResources(words.publisher, { ...input, revision: 0 })).toMatchObject({ revision: 1 });
  });

  test('by two people who saw the same revision: one call stores its texts, the other is rejected with the new revision', async () => {
    const both = await Promise.allSettled(
      ['Laufwerk', 'Scheibe'].map((text) =>
        setResources(words.publisher, { ...reference(), lang: 'de', file: fileOf('de', { a: text }), revision: 1 }),
      ),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'resources_moved_on', params: { revision: 2 } },
    });
  });

  test.each(['de-AT', 'DE-at', 'de_AT'])('stores the language %s in its canonical form', async (lang) => {
    const file = fileOf(lang, { a: 'Platte {0}' });
    const answer = await setResources(words.publisher, { ...reference(), lang, file });
    expect(answer).toMatchObject({ lang: 'de-AT' });
  });

  test('of a withdrawn version is possible: machines still report its messages', async () => {
    await services.db
      .update(handlerVersions)
      .set({ state: 'withdrawn' })
      .where(eq(handlerVersions.handler, words.handler));
    expect(await words.set('de', { a: 'Laufwerk {0}' })).toMatchObject({ revision: 2 });
  });
});

describe('publishVersion', () => {
  test('records state, bytes and languages, and announces the handler once', async () => {
    const now = new Date('2030-01-01T10:00:00Z');
    const ctx = { ...words.publisher, now };
    expect(await changesBy(services, words.handler, () => publishVersion(ctx, reference()))).toBe(1);
    expect((await entriesOf(services, words)).at(-1)).toMatchObject({
      ...{ action: 'version.publish', before: { state: 'draft' }, details: reference() },
      after: { state: 'published', languages: ['de', 'en'] },
    });
    expect(await changesBy(services, words.handler, () => publishVersion(ctx, reference()))).toBe(0);
    const [row] = await services.db.select().from(handlerVersions).where(eq(handlerVersions.handler, words.handler));
    expect(row).toMatchObject({ state: 'published', publishedAt: now });
  });

  test('returns the warnings of package and languages, each with its path', async () => {
    await words.set('de', { a: 'Platte', c: 'nur hier' });
    const { warnings } = await publishVersion(words.publisher, reference());
    expect(warnings).toMatchObject([
      { code: 'placeholders_differ', path: 'resources/de#/0/messages/0/text' },
      { code: 'message_not_in_english', path: 'resources/de#/0/messages/1/text' },
    ]);
  });

  test('by two people at the same time is one entry with one time', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => publishVersion(words.publisher, reference())));
    expect(new Set(answers.map(({ publishedAt }) => publishedAt)).size).toBe(1);
    const entries = await entriesOf(services, words);
    expect(entries.filter(({ action }) => action === 'version.publish')).toHaveLength(1);
  });

  test('AZ-L1 while another call stores German as the only language: one of the two is rejected', async () => {
    const bare = await givenWords(services);
    const [set, published] = await Promise.allSettled([
      bare.set('de', { a: 'Platte' }),
      publishVersion(bare.publisher, { handler: bare.handler, version: bare.version }),
    ]);
    const failed = [set, published].flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(failed).toMatchObject([{ code: 'english_missing', params: { languages: 'de' } }]);
  });

  test('a version without languages can be published', async () => {
    const { handler, version, publisher } = await givenWords(services);
    expect(await publishVersion(publisher, { handler, version })).toMatchObject({ languages: [], state: 'published' });
  });
});
