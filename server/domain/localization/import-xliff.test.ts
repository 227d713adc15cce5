import { beforeAll, expect, test } from 'vitest';
import type { Services } from '#server/domain/context.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { exportXliff } from './export-xliff.ts';
import { getResources } from './get-resources.ts';
import { importXliff } from './import-xliff.ts';
import { setResources } from './set-resources.ts';

let services: Services;
let counter = 0;
const handler = 'Acme.Words.Probe';

beforeAll(async () => {
  services = await testServices();
});

const publisher = () => testContext({ services, role: 'publisher', namespaces: ['Acme.Words'] });
const file = (lang: string, messages: Record<string, string>) => [
  { version: 1, lang, messages: Object.entries(messages).map(([id, text]) => ({ id, text })) },
];

async function givenWords(): Promise<{ handler: string; version: string }> {
  counter += 1;
  const version = await givenVersion(services.db, { handler, version: `${counter}.0` });
  const ctx = await publisher();
  await setResources(ctx, { ...version, lang: 'en', file: file('en', { a: 'Disk {0}', b: 'Bold', c: 'Cold' }) });
  await setResources(ctx, { ...version, lang: 'de', file: file('de', { a: 'Platte {0}', z: 'nur hier' }) });
  return version;
}

const exported = async (version: { handler: string; version: string }, lang = 'de', xliff: '2.1' | '1.2' = '2.1') =>
  (await exportXliff(await testContext({ services, role: 'viewer' }), { ...version, lang, xliff })).text;
const bytes = (text: string) => new TextEncoder().encode(text);
const texts = async (version: { handler: string; version: string }, lang = 'de') => {
  const { languages } = await getResources(await publisher(), version);
  return Object.fromEntries(
    languages.find((row) => row.lang === lang)?.messages.map(({ id, text }) => [id, text]) ?? [],
  );
};
const refusal = (run: Promise<unknown>) =>
  run.then(
    () => 'accepted',
    (error: unknown) => error,
  );

test.each(['2.1', '1.2'] as const)('%s: an unchanged export changes nothing on import', async (xliff) => {
  const version = await givenWords();
  const back = bytes(await exported(version, 'de', xliff));
  const outcome = await importXliff(await publisher(), { ...version, lang: 'de', file: back });
  expect(outcome).toEqual({
    ...{ lang: 'de', revision: 1, stored: false, added: 0, changed: 0, same: 1, untranslated: 2 },
    ...{ changes: [], findings: [] },
  });
});

test('a preview shows the changes, an import stores them, and messages not in the file are kept', async () => {
  const version = await givenWords();
  const sent = (await exported(version))
    .replace('Platte', 'Datenträger')
    .replace('<source>Bold</source>', '<source>Bold</source><target>Fett</target>')
    .replace('<source>Cold</source>', '<source>Old</source><target>Kalt {0}</target>')
    .replace('</file>', '<unit id="q"><segment><source>?</source><target>!</target></segment></unit></file>');
  const ctx = await publisher();
  const dry = await importXliff(ctx, { ...version, lang: 'de', file: bytes(sent), dryRun: true });
  expect(dry).toMatchObject({ stored: false, revision: 1, added: 2, changed: 1, same: 0, untranslated: 0 });
  expect(dry.changes[0]).toEqual({ id: 'a', before: 'Platte {0}', after: 'Datenträger {0}' });
  expect(dry.findings.map(({ code, path }) => `${path} ${code}`)).toEqual([
    '/unit/c xliff_source_moved_on',
    '/unit/c placeholders_differ',
    '/unit/q xliff_id_unknown',
  ]);
  expect(await texts(version)).toEqual({ a: 'Platte {0}', z: 'nur hier' });

  const stored = await importXliff(ctx, { ...version, lang: 'de', file: bytes(sent), revision: dry.revision });
  expect(stored).toMatchObject({ stored: true, revision: 2 });
  expect(await texts(version)).toEqual({ a: 'Datenträger {0}', b: 'Fett', c: 'Kalt {0}', z: 'nur hier' });
  await expect(
    importXliff(ctx, { ...version, lang: 'de', file: bytes(sent.replace('Fett', 'Dick')), revision: dry.revision }),
  ).rejects.toMatchObject({ kind: 'precondition_failed', code: 'resources_moved_on' });
});

test('the first file of a language creates it', async () => {
  const version = await givenWords();
  const sent = (await exported(version, 'pt-br')).replace(
    '<source>Bold</source>',
    '<source>Bold</source><target>Negrito</target>',
  );
  expect(sent).toContain('trgLang="pt-BR"');
  await importXliff(await publisher(), { ...version, lang: 'pt-BR', file: bytes(sent), revision: 0 });
  expect(await texts(version, 'pt-BR')).toEqual({ b: 'Negrito' });
});

test('rejects a file for another handler, version or language, and names it', async () => {
  const [here, there] = [await givenWords(), await givenWords()];
  const ctx = await publisher();
  const sent = bytes(await exported(there, 'fr'));
  expect(await refusal(importXliff(ctx, { ...here, lang: 'de', file: sent }))).toMatchObject({
    code: 'xliff_refused',
    faults: [
      {
        path: '/file/original',
        code: 'xliff_other_version',
        params: { expected: `${handler}-${here.version}`, found: `${handler}-${there.version}` },
      },
      { path: '/target', code: 'xliff_other_language', params: { expected: 'de', found: 'fr' } },
    ],
  });
  expect(await refusal(importXliff(ctx, { ...here, lang: 'en', file: sent }))).toMatchObject({
    code: 'xliff_into_english',
  });
  expect(await refusal(importXliff(ctx, { ...here, lang: '?', file: sent }))).toMatchObject({
    faults: [{ path: '/lang', code: 'language_tag' }],
  });
});

test('without English there is nothing to export; non-members can export but not import', async () => {
  const bare = await givenVersion(services.db, { handler, version: '90.0', state: 'draft' });
  expect(await refusal(exported(bare))).toMatchObject({ code: 'xliff_without_english' });
  const version = await givenWords();
  const file = bytes(await exported(version));
  for (const [role, namespaces] of [
    ['operator', []],
    ['publisher', ['Other']],
  ] as const) {
    const ctx = await testContext({ services, role, namespaces });
    await expect(importXliff(ctx, { ...version, lang: 'de', file })).rejects.toMatchObject({ kind: 'forbidden' });
  }
});

test('of two concurrent imports of one language, the second gets 412', async () => {
  const version = await givenWords();
  const ctx = await publisher();
  const [seen] = (await getResources(ctx, version)).languages.filter(({ lang }) => lang === 'de');
  const put = (revision: number, text: string) =>
    setResources(ctx, { ...version, lang: 'de', file: file('de', { a: text }), revision });
  expect(await put(seen?.revision ?? -1, 'eins {0}')).toMatchObject({ revision: 2 });
  expect(await refusal(put(seen?.revision ?? -1, 'zwei {0}'))).toMatchObject({
    kind: 'precondition_failed',
    code: 'resources_moved_on',
    params: { lang: 'de', who: ctx.actor.name, revision: 2 },
  });
  expect(await refusal(put(0, 'drei {0}'))).toMatchObject({ code: 'resources_moved_on' });
  expect(await texts(version)).toEqual({ a: 'eins {0}' });
});
