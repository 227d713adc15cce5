import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditEntries, handlers } from '#db/schema/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { getVersion, receiveUpload } from '#server/domain/packages/index.ts';
import { createPublisher } from '#server/domain/publishers/index.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { longTest } from '#server/testing/long.ts';
import { runsLong } from '#server/testing/runs-long.ts';
import { sampleManifest, samplePackage } from '#server/testing/sample-package.ts';
import { getResources, publishVersion, type RegisterVersionInput, registerVersion } from './index.ts';
import { fileOf } from './testing/words.ts';

let services: Services;
let publisher: Context;
let count = 0;
beforeAll(async () => {
  services = await testServices();
  await createPublisher(await testContext({ services }), { namespace: 'Acme.Words', displayName: 'Acme' });
  publisher = await testContext({ services, role: 'publisher', namespaces: ['Acme.Words'] });
});

const schema = { publicSettings: { type: 'object' } };
const platforms = { platforms: [{ os: 'linux' }] };
const languages = [fileOf('de', { a: 'Ä' }), fileOf('en', { a: 'A' })];

const newHandler = () => {
  count += 1;
  return `Acme.Words.Whole${count}`;
};
async function register(handler: string, more: Partial<RegisterVersionInput> = {}, zip?: Uint8Array, as = publisher) {
  const bytes = zip ?? (await samplePackage());
  async function* body() {
    yield bytes;
  }
  const file = await receiveUpload(as, body(), bytes.length);
  return registerVersion(as, { handler, version: '1.0', resources: [], publish: false, ...more, file });
}
const actionsOf = async (handler: string) => {
  const rows = await readActs(services.db, eq(auditEntries.targetId, `${handler}-1.0`));
  return rows.map(({ action }) => action);
};
const exists = async (handler: string) => (await services.db.$count(handlers, eq(handlers.id, handler))) === 1;

describe('AZ-P7 a version with all its parts', () => {
  test('is registered with schema, platforms and languages, English first', async () => {
    const handler = newHandler();
    const answer = await register(handler, { schema, platforms, resources: languages });
    expect(answer).toMatchObject({ created: true, state: 'draft', languages: ['en', 'de'], publishedAt: null });
    expect(await getVersion(publisher, { handler, version: '1.0' })).toMatchObject({
      settingsSchema: schema,
      platforms: platforms.platforms,
    });
    expect(await actionsOf(handler)).toEqual([
      ...['version.register', 'version.set-schema', 'version.set-platforms'],
      ...['resources.set', 'resources.set'],
    ]);
  });

  longTest('is published by the same call on request', async () => {
    const handler = newHandler();
    const answer = await register(handler, { schema, resources: languages, publish: true });
    expect(answer).toMatchObject({ created: true, state: 'published', publishedAt: publisher.now.toISOString() });
    expect((await actionsOf(handler)).at(-1)).toBe('version.publish');
  });

  test.each(runsLong ? [false, true] : [true])('sent again changes nothing; published: %s', async (publish) => {
    const handler = newHandler();
    const parts = { schema, platforms, resources: languages, publish };
    const first = await register(handler, parts);
    const before = await actionsOf(handler);
    expect(await register(handler, parts)).toEqual({ ...first, created: false });
    expect(await actionsOf(handler)).toEqual(before);
  });

  longTest('completes a draft that a crash left with its package only', async () => {
    const handler = newHandler();
    await register(handler);
    const answer = await register(handler, { schema, platforms, resources: languages, publish: true });
    expect(answer).toMatchObject({ created: false, state: 'published', languages: ['de', 'en'] });
  });

  test('sent again with one other text changes that language only', async () => {
    const handler = newHandler();
    await register(handler, { resources: languages });
    await register(handler, { resources: [fileOf('de', { a: 'Äh' }), fileOf('en', { a: 'A' })] });
    const { languages: stored } = await getResources(publisher, { handler, version: '1.0' });
    expect(stored.map(({ lang, revision }) => [lang, revision])).toEqual([
      ['en', 1],
      ['de', 2],
    ]);
  });

  test('returns the warnings of its languages, each with its path', async () => {
    const warned = [fileOf('en', { a: '{0}' }), fileOf('de', { a: 'nichts' })];
    const { warnings } = await register(newHandler(), { resources: warned });
    expect(warnings).toMatchObject([{ code: 'placeholders_differ', path: 'resources/de#/0/messages/0/text' }]);
  });
});

describe('faults of its parts', () => {
  test.each<[what: string, parts: Partial<RegisterVersionInput>, faults: [path: string, code: string][]]>([
    ['a schema that is none', { schema: 7 }, [['settings-schema', 'field_not_object']]],
    ['an unknown half', { schema: { other: {} } }, [['settings-schema#/other', 'field_unknown']]],
    ['platforms that are none', { platforms: [] }, [['platforms', 'field_not_object']]],
    [
      'a platform without a property',
      { platforms: { platforms: [{}] } },
      [['platforms#/platforms/0', 'platform_empty']],
    ],
    ['a file without a language', { resources: [{}] }, [['resources/1', 'file_not_array']]],
    ['a language twice', { resources: [languages[0], languages[0]] }, [['resources/de', 'language_twice']]],
    [
      'German alone, to be published',
      { resources: [languages[0]], publish: true },
      [['resources#/resources/en', 'english_missing']],
    ],
    [
      'several at once',
      { schema: 7, platforms: [], resources: [{}, [{ version: 2, lang: 'de', messages: [] }]] },
      [
        ['settings-schema', 'field_not_object'],
        ['platforms', 'field_not_object'],
        ['resources/1', 'file_not_array'],
        ['resources/de#/0/version', 'file_version'],
      ],
    ],
  ])('%s: all are named, and no version exists', async (_, parts, faults) => {
    const handler = newHandler();
    const error = await register(handler, parts).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'unprocessable', code: 'version_invalid' });
    const found = (error as { faults: { path: string; code: string }[] }).faults;
    expect(found.map(({ path, code }) => [path, code])).toEqual(faults);
    expect(await exists(handler)).toBe(false);
  });

  test('faults of the package are returned with the faults of the other parts', async () => {
    const zip = await samplePackage(sampleManifest({ enableCommand: '/bin/sh' }), { 'bin/install.sh': null });
    const faults = [
      { path: 'package/HandlerManifest.json#/0/handlerManifest/enableCommand', code: 'command_absolute' },
      { path: 'settings-schema', code: 'field_not_object' },
    ];
    await expect(register(newHandler(), { schema: [] }, zip)).rejects.toMatchObject({ faults });
  });

  longTest('do not change a version that existed before', async () => {
    const handler = newHandler();
    await register(handler, { schema, resources: languages });
    const before = await actionsOf(handler);
    await expect(register(handler, { platforms: [] })).rejects.toMatchObject({ code: 'version_invalid' });
    expect(await actionsOf(handler)).toEqual(before);
    expect(await getVersion(publisher, { handler, version: '1.0' })).toMatchObject({ settingsSchema: schema });
  });
});

describe('what is not a fault of a part', () => {
  test('other bytes of a published version, another schema, and a foreign namespace are rejected as such', async () => {
    const handler = newHandler();
    await register(handler, { schema, publish: true });
    const other = await samplePackage(sampleManifest(), { more: 'x' });
    await expect(register(handler, {}, other)).rejects.toMatchObject({ code: 'version_other_contents' });
    await expect(register(handler, { schema: {} })).rejects.toMatchObject({ code: 'schema_fixed' });
    await expect(register(handler, { platforms })).rejects.toMatchObject({ code: 'platforms_fixed' });
    const stranger = await testContext({ services, role: 'publisher', namespaces: ['Other'] });
    const foreign = register(newHandler(), {}, undefined, stranger);
    await expect(foreign).rejects.toMatchObject({ code: 'namespace_forbidden' });
    expect(await publishVersion(publisher, { handler, version: '1.0' })).toMatchObject({ state: 'published' });
  });

  test('another language may be added to the stored English', async () => {
    const handler = newHandler();
    await register(handler, { resources: [languages[1]] });
    const answer = await register(handler, { resources: [languages[0]], publish: true });
    expect(answer).toMatchObject({ state: 'published', languages: ['de', 'en'] });
  });

  test('the same version from two people at the same time exists once', async () => {
    const handler = newHandler();
    const both = await Promise.all([1, 2].map(() => register(handler, { resources: languages, publish: true })));
    expect(both.map(({ created }) => created).toSorted()).toEqual([false, true]);
    expect((await actionsOf(handler)).filter((action) => action === 'version.register')).toHaveLength(1);
  });
});
