import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { and, eq } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { handlerVersions, resources } from '#db/schema/index.ts';
import type { Platform } from '#protocol/platform.ts';
import type { Context } from '#server/domain/context.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { longTest } from '#server/testing/long.ts';
import { samplePackage } from '#server/testing/sample-package.ts';
import { compareVersions } from './compare-versions.ts';

const handler = 'Acme.Lab.Compared';
let ctx: Context;

type Messages = Record<string, string>;
interface Given {
  files?: Record<string, string>;
  messages?: Record<string, Messages>;
  settingsSchema?: object;
  platforms?: Platform[];
}

async function given(
  version: string,
  { files = {}, messages = {}, settingsSchema, platforms = [] }: Given,
): Promise<void> {
  const zip = await samplePackage(undefined, files);
  const sha256 = createHash('sha256').update(zip).digest('hex');
  const path = await ctx.blobs.temporaryPath();
  await writeFile(path, zip);
  await ctx.blobs.putFile(path, sha256);
  await givenVersion(ctx.db, { handler, version, platforms, ...(settingsSchema && { settingsSchema }) });
  const listed = Object.entries(files).map(([name, text]) => ({ name, size: text.length, mode: null }));
  await ctx.db
    .update(handlerVersions)
    .set({ sha256, files: listed })
    .where(and(eq(handlerVersions.handler, handler), eq(handlerVersions.version, version)));
  for (const [lang, texts] of Object.entries(messages)) {
    const about = { handler, version, lang, warnings: [], updatedAt: ctx.now, updatedBy: 'test' };
    await ctx.db.insert(resources).values({ ...about, messages: texts });
  }
}

const numbered = (count: number, text: (n: number) => string) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}`, text(n)]));

beforeAll(async () => {
  ctx = await testContext({ role: 'viewer' });
  const many = (text: string) => numbered(501, (n) => `${text}${n}`);
  await given('1.0', {
    files: { 'bin/2.sh': 'a', 'bin/10.sh': 'a', 'same.txt': 's', ...many('x') },
    messages: { en: { a: 'A', b: 'B' }, de: { a: 'A', c: 'C' }, zh: { a: 'A' } },
    settingsSchema: { publicSettings: { type: 'object' } },
    platforms: [{ os: 'linux' }],
  });
  await given('2.0', {
    files: { 'bin/2.sh': 'b', 'bin/10.sh': 'b', 'same.txt': 's', ...many('y') },
    messages: { en: { a: 'A', b: 'Be', d: 'D' }, de: { a: 'Ä', c: 'C' }, fr: { a: 'A', b: 'B' } },
  });
  await given('3.0', { messages: { en: numbered(201, String) } });
  await given('4.0', { messages: { en: numbered(200, (n) => `other ${n}`) } });
});

const compare = (a: string, b: string) => compareVersions(ctx, { handler, a, b });

test('files of the same size with other contents differ, and names are ordered by their numbers', async () => {
  const { files } = await compare('1.0', '2.0');
  expect(files.changed.slice(0, 4).map(({ name }) => name)).toEqual(['bin/2.sh', 'bin/10.sh', 'm0', 'm1']);
  expect(files.changed[0]).toEqual({ name: 'bin/2.sh', before: 1, after: 1 });
});

longTest('the first 500 files that differ are listed, and all are counted', async () => {
  const { files } = await compare('1.0', '2.0');
  expect([files.changed.length, files.total, files.same]).toEqual([500, 503, 1]);
});

test('the first 200 messages that differ are listed, and all are counted', async () => {
  const longer = await compare('3.0', '4.0');
  expect([longer.messages.changed.length, longer.messages.total, longer.messages.same]).toEqual([200, 201, 0]);
  expect(longer.languages).toEqual([{ lang: 'en', added: 0, removed: 1, changed: 200 }]);
});

test('languages are compared one by one, including those that only one side has', async () => {
  const { languages, messages } = await compare('1.0', '2.0');
  const byLanguage = Object.fromEntries(languages.map(({ lang, ...counts }) => [lang, counts]));
  expect(byLanguage).toEqual({
    en: { added: 1, removed: 0, changed: 1 },
    de: { added: 0, removed: 0, changed: 1 },
    fr: { added: 2, removed: 0, changed: 0 },
    zh: { added: 0, removed: 1, changed: 0 },
  });
  expect(messages.changed).toEqual([
    { name: 'b', before: 'B', after: 'Be' },
    { name: 'd', before: null, after: 'D' },
  ]);
});

longTest('in the other direction, what was added is removed', async () => {
  const { languages } = await compare('2.0', '1.0');
  expect(languages).toContainEqual({ lang: 'fr', added: 0, removed: 2, changed: 0 });
  expect(languages).toContainEqual({ lang: 'zh', added: 1, removed: 0, changed: 0 });
});

longTest('each side has its schema, pretty-printed, or none', async () => {
  const { a, b } = await compare('1.0', '2.0');
  expect([a.schema, b.schema]).toEqual([JSON.stringify({ publicSettings: { type: 'object' } }, null, 2), null]);
  expect([a.version, b.version, a.state]).toEqual(['1.0', '2.0', 'published']);
});

longTest('each side has its platforms', async () => {
  const { a, b } = await compare('1.0', '2.0');
  expect([a.platforms, b.platforms]).toEqual([[{ os: 'linux' }], []]);
});
