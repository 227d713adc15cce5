import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { handlerVersions, resources, type StoredWarning } from '#db/schema/index.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { fitList, maxListBytes } from '#server/domain/list-bytes.ts';
import { readFleetRows } from '#server/domain/views/index.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { longTest } from '#server/testing/long.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

const version = { handler: 'Acme.Lab.Probe', version: '1.0.0.0' };
const viewer = { as: 'viewer' as const };
const files = Array.from({ length: 20_000 }, (_, n) => ({ name: `${n}-${'f'.repeat(1_000)}`, size: 1, mode: null }));
const id = (n: number) => `${n}-${'i'.repeat(90)}`;
const ids = 20_000;
const languages = ['en', 'de', 'fr', 'ja', 'pt-BR', 'zh-Hans'];
const warnings = Array.from(
  { length: ids },
  (_, n): StoredWarning => ({ code: 'message_blank', path: `/0/messages/${n}`, params: { id: id(n), lang: 'de' } }),
);

// Lists of this size take seconds, and longer on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

let door: RestDoor;

beforeAll(async () => {
  door = await openRestDoor();
  const { db } = door.services;
  await givenVersion(db, version);
  await db.update(handlerVersions).set({ files, warnings }).where(eq(handlerVersions.handler, version.handler));
  const english = Object.fromEntries(Array.from({ length: ids }, (_, n) => [id(n), 'text']));
  await db.insert(resources).values(
    languages.map((lang) => ({
      ...version,
      lang,
      messages: lang === 'en' ? english : { [id(0)]: 'text' },
      warnings: lang === 'en' ? [] : warnings,
      revision: 1,
      updatedAt: new Date(),
      updatedBy: 'Ada',
    })),
  );
});
afterAll(() => door.close());

const bytesOf = (answer: unknown) => Buffer.byteLength(JSON.stringify(answer));

interface Warning {
  code: string;
  message: string;
}
interface Described {
  lang: string;
  translated: number;
  total: number;
  missing: string[];
  warnings: Warning[];
  leftOut?: { missing?: number };
}

interface Named {
  items: { name: string }[];
  nextCursor: string | null;
}

const saysWhatIsLeftOut = (found: Warning[]) => {
  const [last] = found.slice(-1);
  expect(last).toMatchObject({ code: 'more_warnings' });
  expect(last?.message).toBe(`Number of warnings that are not listed: ${ids - (found.length - 1)}.`);
};

test('a version with 20,000 long file names fits into a response, which counts the omitted files', async () => {
  type Version = { files: { name: string }[]; warnings: Warning[]; leftOut: { files: number } };
  const found = await door.expect<Version>('getVersion', version, 200, viewer);
  expect(bytesOf(found.files)).toBeLessThanOrEqual(maxListBytes + 2);
  expect(found.files.length).toBeGreaterThan(3_000);
  expect(found.files.map(({ name }) => name)).toEqual(files.slice(0, found.files.length).map(({ name }) => name));
  expect(found.leftOut).toEqual({ files: files.length - found.files.length });
  saysWhatIsLeftOut(found.warnings);
  expect(bytesOf(found)).toBeLessThan(maxListBytes + 1024 * 1024);
});

longTest('languages that lack 20,000 messages are listed in pages, each within the size of a list', async () => {
  type Page = { items: Described[]; nextCursor: string | null };
  const seen: string[] = [];
  let query = '';
  let pages = 0;
  for (let next: string | null = ''; next !== null; pages += 1) {
    const page: Page = await door.expect<Page>('listResources', version, 200, { ...viewer, query });
    expect(bytesOf(page)).toBeLessThanOrEqual(maxListBytes);
    for (const language of page.items) {
      seen.push(language.lang);
      if (language.lang === 'en') continue;
      expect([language.translated, language.total]).toEqual([1, ids]);
      expect(language.missing.length).toBeGreaterThan(5_000);
      expect(language.missing.length + (language.leftOut?.missing ?? 0)).toBe(ids - 1);
      saysWhatIsLeftOut(language.warnings);
    }
    next = page.nextCursor;
    query = `?cursor=${next}`;
  }
  expect(seen).toEqual(languages);
  expect(pages).toBeGreaterThan(1);
  const small = await door.expect<Page>('listResources', version, 200, { ...viewer, query: '?limit=1' });
  expect(small.items.map(({ lang }) => lang)).toEqual(['en']);
});

longTest('VMs with long tags are listed in pages, each within the size of a list', async () => {
  const tag = (n: number) => [`${n}-`.padEnd(250, 't'), 'v'.repeat(250)];
  const tags = Object.fromEntries(Array.from({ length: 64 }, (_, n) => tag(n)));
  const ctx = await testContext({ services: door.services, role: 'operator' });
  const made = Array.from({ length: 150 }, (_, n) => `vm-${String(n).padStart(3, '0')}`);
  const vmIds: string[] = [];
  for (const name of made) vmIds.push((await registerVm(ctx, { name, tags })).id);
  const seen: string[] = [];
  let query = '?limit=200';
  let pages = 0;
  for (let next: string | null = ''; next !== null; pages += 1) {
    const page: Named = await door.expect<Named>('listVms', {}, 200, { query });
    expect(bytesOf(page.items)).toBeLessThanOrEqual(maxListBytes + 2);
    seen.push(...page.items.map(({ name }) => name));
    next = page.nextCursor;
    query = `?limit=200&cursor=${next}`;
  }
  expect(seen).toEqual(made);
  expect(pages).toBe(2);

  const { items, leftOut } = await readFleetRows(ctx, { vmIds });
  expect(bytesOf(items)).toBeLessThanOrEqual(maxListBytes + 2);
  expect(items.map(({ id }) => id)).toEqual(vmIds.slice(0, items.length));
  expect(leftOut).toBe(vmIds.length - items.length);
  expect(leftOut).toBeGreaterThan(0);
});

test('the response for one language is limited in size', async () => {
  const german = await door.expect<Described>('getResources', { ...version, lang: 'de' }, 200, viewer);
  expect(german.missing.length + (german.leftOut?.missing ?? 0)).toBe(ids - 1);
  expect(bytesOf(german)).toBeLessThan(maxListBytes);
});

test('a list that fits is complete, and the first row is always included', () => {
  expect(fitList(['ab', 'cd'], { bytes: 10 })).toEqual({ kept: ['ab', 'cd'], leftOut: 0 });
  expect(fitList(['ab', 'cd', 'ef'], { bytes: 12 })).toEqual({ kept: ['ab', 'cd'], leftOut: 1 });
  expect(fitList(['x'.repeat(100), 'y'], { bytes: 10 })).toEqual({ kept: ['x'.repeat(100)], leftOut: 1 });
  expect(fitList([], { bytes: 0 })).toEqual({ kept: [], leftOut: 0 });
});
