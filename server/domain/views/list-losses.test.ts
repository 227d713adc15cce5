import { beforeAll, expect, test } from 'vitest';
import type { Services } from '#server/domain/context.ts';
import { givenWords } from '#server/domain/localization/testing/words.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { listLosses, versionLosses } from './list-losses.ts';

const handler = 'Acme.Words.Losses';
let services: Services;

beforeAll(async () => {
  services = await testServices();
  const many = Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`m${n}`, 'gone']));
  const old = { a: 'A {0}', b: 'B {0}', gone: 'Gone', ...many };
  await givenWords(
    services,
    { en: old, de: { a: 'Ä {0}', b: 'Bö' }, fr: { a: 'A {0}' } },
    { handler, version: '1.0', state: 'published' },
  );
  await givenWords(
    services,
    { en: { a: 'A {1}', b: 'B {0}', gone: ' ' }, de: { a: 'Ä {0}', b: 'Bö' } },
    { handler, version: '2.0' },
  );
});

const losses = async (version: string, of = handler) =>
  versionLosses.parse(await listLosses(await testContext({ services, role: 'viewer' }), { handler: of, version }));

test('names languages, messages and placeholders that only the previous version has', async () => {
  const found = await losses('2.0');
  expect(found).toMatchObject({ previous: '1.0', languages: ['fr'], isSchemaRemoved: false });
  expect(found.placeholders).toEqual({ items: [{ lang: 'en', id: 'a', before: [0], after: [1] }], total: 1 });
  // A blank message counts as removed.
  expect(found.messages.total).toBe(202);
  expect(found.messages.items).toHaveLength(200);
});

test('is empty without a previous version', async () => {
  expect(await losses('1.0')).toMatchObject({ previous: null, languages: [], messages: { total: 0 } });
});

test('names what the package and the schema lose', async () => {
  const of = 'Acme.Words.Platforms';
  const settingsSchema = { publicSettings: { type: 'object', properties: { port: {} } } };
  await givenVersion(services.db, { handler: of, version: '1.0', reportHeartbeat: true, settingsSchema });
  await givenVersion(services.db, {
    handler: of,
    version: '1.1',
    reportHeartbeat: false,
    platforms: [{ os: 'linux' }],
  });
  expect(await losses('1.1', of)).toMatchObject({
    isSchemaRemoved: true,
    settings: { removed: [], required: [] },
    platforms: [{ os: 'windows' }, { os: 'darwin' }],
    manifest: ['reportHeartbeat'],
  });
});

test('needs a session and an existing version', async () => {
  const signedOut = await testContext({ services, role: null });
  await expect(listLosses(signedOut, { handler, version: '2.0' })).rejects.toMatchObject({ kind: 'unauthenticated' });
  await expect(losses('9.9')).rejects.toMatchObject({ code: 'version_unknown' });
});
