import { and, eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditEntries, changes, resources } from '#db/schema/index.ts';
import resourcesDe from '#protocol/fixtures/resources-de.json' with { type: 'json' };
import resourcesEn from '#protocol/fixtures/resources-en.json' with { type: 'json' };
import { negotiate } from '#protocol/index.ts';
import type { Services } from '#server/domain/context.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { findMessages } from './find-messages.ts';
import { getResources } from './get-resources.ts';
import { previewMessage } from './preview-message.ts';
import { publishVersion } from './publish-version.ts';
import { setResources } from './set-resources.ts';

let services: Services;
const publisher = () => testContext({ services, role: 'publisher', namespaces: ['Acme.Lab'] });
const handler = 'Acme.Lab.Probe';
let count = 0;

async function newVersion(state: 'draft' | 'published' | 'withdrawn' = 'draft'): Promise<string> {
  const version = `1.0.${count++}.0`;
  await givenVersion(services.db, { handler, version, state });
  return version;
}

const file = (lang: string, messages: Record<string, string>) => [
  { version: 1.0, lang, messages: Object.entries(messages).map(([id, text]) => ({ id, text })) },
];

beforeAll(async () => {
  services = await testServices();
});

describe('setResources', () => {
  test('stores a language, replaces it, and records author and change', async () => {
    const ctx = await publisher();
    const version = await newVersion();
    expect(await setResources(ctx, { handler, version, lang: 'EN', file: resourcesEn })).toEqual({
      lang: 'en',
      messages: 1,
      revision: 1,
      warnings: [],
    });
    await setResources(ctx, { handler, version, lang: 'en', file: file('en', { a: 'x', b: 'y' }) });
    const { languages } = await getResources(await testContext({ services, role: 'viewer' }), { handler, version });
    expect(languages).toMatchObject([
      {
        lang: 'en',
        translated: 2,
        total: 2,
        messages: [
          { id: 'a', text: 'x' },
          { id: 'b', text: 'y' },
        ],
      },
    ]);
    const target = eq(auditEntries.targetId, `${handler}-${version}`);
    expect(await readActs(services.db, target)).toMatchObject([
      { action: 'resources.set', details: { lang: 'en', count: 1 }, before: null },
      {
        action: 'resources.set',
        details: { count: 2 },
        before: { messages: 1 },
        after: { messages: 2, added: ['a', 'b'], changed: [] },
      },
    ]);
    expect(
      await services.db.$count(changes, and(eq(changes.topic, 'handler'), eq(changes.key, handler))),
    ).toBeGreaterThan(1);
  });

  test('AZ-L6 a differing set of placeholders is a warning, whichever file came last', async () => {
    const ctx = await publisher();
    const version = await newVersion();
    const english = file('en', { done: 'Done', seven: '{0} of {1}' });
    expect(
      (await setResources(ctx, { handler, version, lang: 'de', file: file('de', { seven: '{0}' }) })).warnings,
    ).toEqual([]);
    const warning = {
      code: 'placeholders_differ',
      params: { id: 'seven', lang: 'de', expected: '{0} {1}', found: '{0}' },
    };
    expect((await setResources(ctx, { handler, version, lang: 'en', file: english })).warnings).toEqual([
      { ...warning, path: '' },
    ]);
    const again = file('de', { done: 'Fertig', seven: '{0}' });
    expect((await setResources(ctx, { handler, version, lang: 'de', file: again })).warnings).toEqual([
      { ...warning, path: '/0/messages/1/text' },
    ]);
    await setResources(ctx, { handler, version, lang: 'en', file: file('en', { done: 'Done', seven: '{0}' }) });
    const rows = await services.db
      .select()
      .from(resources)
      .where(eq(resources.version, version))
      .orderBy(resources.lang);
    expect(rows.map(({ lang, warnings }) => [lang, warnings])).toEqual([
      ['de', []],
      ['en', []],
    ]);
  });

  test('AZ-L1 one response lists every fault, including another language in the body', async () => {
    const ctx = await publisher();
    const version = await newVersion();
    await expect(setResources(ctx, { handler, version, lang: 'fr', file: resourcesDe })).rejects.toMatchObject({
      kind: 'unprocessable',
      faults: [{ path: '/0/lang', code: 'language_differs', params: { expected: 'fr', found: 'de' } }],
    });
    const wrong = [{ version: 2, lang: 'x y', messages: [{ id: 1 }, { id: 1, text: 'a' }] }];
    await expect(setResources(ctx, { handler, version, lang: '?', file: wrong })).rejects.toMatchObject({
      faults: [
        { path: '', code: 'language_tag' },
        { path: '/0/version', code: 'file_version' },
        { path: '/0/lang', code: 'language_tag' },
        { path: '/0/messages/0/text', code: 'field_missing' },
      ],
    });
    await expect(setResources(ctx, { handler, version, lang: 'en', file: undefined })).rejects.toMatchObject({
      faults: [{ path: '', code: 'file_not_array' }],
    });
    expect(await services.db.$count(resources, eq(resources.version, version))).toBe(0);
  });

  test('limits: 413 above 2 MiB, 422 above 20,000 messages, 404 for an unknown version', async () => {
    const ctx = await publisher();
    const version = await newVersion();
    const large = file('en', Object.fromEntries(Array.from({ length: 200 }, (_, id) => [id, 'x'.repeat(16_000)])));
    await expect(setResources(ctx, { handler, version, lang: 'en', file: large })).rejects.toMatchObject({
      kind: 'too_large',
      params: { limit: 2 * 1024 * 1024 },
    });
    const many = file('en', Object.fromEntries(Array.from({ length: 20_001 }, (_, id) => [id, 'x'])));
    await expect(setResources(ctx, { handler, version, lang: 'en', file: many })).rejects.toMatchObject({
      faults: [{ path: '/0/messages', code: 'messages_too_many', params: { maximum: 20_000 } }],
    });
    const nowhere = { handler, version: '9.9', lang: 'en', file: resourcesEn };
    await expect(setResources(ctx, nowhere)).rejects.toMatchObject({ kind: 'not_found' });
  });

  test('only publishers of the namespace can store messages', async () => {
    const version = await newVersion();
    const input = { handler, version, lang: 'en', file: resourcesEn };
    for (const role of ['viewer', 'operator', 'publisher'] as const) {
      const ctx = await testContext({ services, role, namespaces: ['Other'] });
      await expect(setResources(ctx, input)).rejects.toMatchObject({ kind: 'forbidden' });
      await expect(publishVersion(ctx, input)).rejects.toMatchObject({ kind: 'forbidden' });
    }
  });
});

describe('publishVersion', () => {
  test('AZ-L1 languages without en are rejected, and languages with en are published', async () => {
    const ctx = await publisher();
    const version = await newVersion();
    await setResources(ctx, { handler, version, lang: 'de', file: resourcesDe });
    await expect(publishVersion(ctx, { handler, version })).rejects.toMatchObject({
      kind: 'unprocessable',
      code: 'english_missing',
      params: { languages: 'de' },
    });
    await setResources(ctx, { handler, version, lang: 'en', file: resourcesEn });
    const result = await publishVersion(ctx, { handler, version });
    expect(result).toMatchObject({
      handler,
      version,
      state: 'published',
      languages: ['de', 'en'],
      publishedAt: ctx.now.toISOString(),
    });
  });

  test('AZ-L1 a published version accepts no first language other than en', async () => {
    const ctx = await publisher();
    const version = await newVersion();
    await publishVersion(ctx, { handler, version });
    const german = { handler, version, lang: 'de', file: resourcesDe };
    await expect(setResources(ctx, german)).rejects.toMatchObject({ code: 'english_missing' });
    await setResources(ctx, { handler, version, lang: 'en', file: resourcesEn });
    expect(await setResources(ctx, german)).toMatchObject({ lang: 'de', messages: 1 });
  });

  test('a second call changes nothing; a withdrawn version remains withdrawn', async () => {
    const ctx = await publisher();
    const version = await newVersion();
    const first = await publishVersion(ctx, { handler, version });
    const later = await testContext({ services, role: 'admin', now: new Date(ctx.now.getTime() + 60_000) });
    expect(await publishVersion(later, { handler, version })).toEqual(first);
    const target = and(eq(auditEntries.targetId, `${handler}-${version}`), eq(auditEntries.action, 'version.publish'));
    expect(await services.db.$count(auditEntries, target)).toBe(1);
    const withdrawn = { handler, version: await newVersion('withdrawn') };
    await expect(publishVersion(ctx, withdrawn)).rejects.toMatchObject({ kind: 'conflict' });
  });
});

test('previewMessage shows each reader the same as the instance view', async () => {
  const ctx = await publisher();
  const version = await newVersion();
  await setResources(ctx, { handler, version, lang: 'en', file: resourcesEn });
  await setResources(ctx, { handler, version, lang: 'de', file: resourcesDe });
  const message = { id: '1215', params: ['db', 'Joe'] };
  expect(await previewMessage(ctx, { handler, version, message, readers: ['de-AT', 'ja'] })).toMatchObject([
    { reader: 'de-AT', message: { lang: 'de', text: 'Joe fehler beim Anschluss an db herzustellen' } },
    { reader: 'ja', message: { lang: 'en', text: 'Failed to establish connection to db as Joe' } },
  ]);
});

test('findMessages reads only the requested messages', async () => {
  const ctx = await publisher();
  const version = await newVersion();
  await setResources(ctx, { handler, version, lang: 'en', file: file('en', { a: 'A', b: 'B' }) });
  await setResources(ctx, { handler, version, lang: 'de', file: file('de', { b: 'Be' }) });
  await setResources(ctx, { handler, version, lang: 'ja', file: file('ja', { a: 'あ' }) });
  const found = await findMessages(
    services.db,
    [{ handler, version, ids: ['a', 'nope', '__proto__'] }],
    negotiate({ acceptLanguage: 'de, fr' }),
  );
  expect(Object.fromEntries(found.get(`${handler}-${version}`) ?? [])).toEqual({ en: { a: 'A' }, de: {} });
});
