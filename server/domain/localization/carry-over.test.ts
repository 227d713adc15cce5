import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { VersionState } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { getVersion, setSettingsSchema } from '#server/domain/packages/index.ts';
import { testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { carryOver, getResources, publishVersion } from './index.ts';
import { changesBy, contextOf, entriesOf, type GivenWords, givenWords, type Texts } from './testing/words.ts';

let services: Services;
let handler: string;
beforeAll(async () => {
  services = await testServices();
});
beforeEach(() => {
  handler = `Acme.Words.Carry${randomUUID().slice(0, 8)}`;
});

const schema = { publicSettings: { type: 'object' } };
const given = (version: string, languages: Record<string, Texts> = {}, state: VersionState = 'draft') =>
  givenWords(services, languages, { handler, version, state });
const published = (version: string, languages: Record<string, Texts>) => given(version, languages, 'published');
const carry = ({ publisher, version }: GivenWords) => carryOver(publisher, { handler, version });
const languagesOf = async ({ publisher, version }: GivenWords) => {
  const { languages } = await getResources(publisher, { handler, version });
  return Object.fromEntries(
    languages.map(({ lang, carriedFrom, messages }) => [
      lang,
      [carriedFrom, Object.fromEntries(messages.map(({ id, text }) => [id, text]))],
    ]),
  );
};

describe('carryOver', () => {
  test('copies every language and the schema of the previous version, and marks them', async () => {
    await givenVersion(services.db, { handler, version: '1.0', settingsSchema: schema });
    const source = await givenWords(services, {}, { handler, version: '1.1', state: 'draft' });
    await source.set('en', { a: 'A {0}' });
    await source.set('de', { a: 'Ä' });
    await setSettingsSchema(source.publisher, { handler, version: '1.1', schema });
    await publishVersion(source.publisher, { handler, version: '1.1' });
    const draft = await given('2.0');

    expect(await carry(draft)).toEqual({ from: '1.1', languages: ['de', 'en'], settingsSchema: true });
    expect(await languagesOf(draft)).toEqual({ en: ['1.1', { a: 'A {0}' }], de: ['1.1', { a: 'Ä' }] });
    expect(await getVersion(draft.publisher, { handler, version: '2.0' })).toMatchObject({
      settingsSchema: schema,
      settingsSchemaFrom: '1.1',
    });
    const { languages } = await getResources(draft.publisher, { handler, version: '2.0' });
    expect(languages.map(({ warnings }) => warnings.map(({ code }) => code))).toEqual([[], ['placeholders_differ']]);
    expect((await entriesOf(services, draft)).map(({ action, details }) => [action, details])).toEqual([
      ['version.carry-over', expect.objectContaining({ from: '1.1' })],
    ]);
  });

  test('keeps what the draft has, and a second call changes nothing', async () => {
    await published('1.0', { en: { a: 'Old' }, de: { a: 'Alt' } });
    const draft = await given('2.0', { en: { a: 'New {0}' } });
    expect(await carry(draft)).toMatchObject({ languages: ['de'], settingsSchema: false });
    const before = await languagesOf(draft);
    expect(before).toEqual({ en: [null, { a: 'New {0}' }], de: ['1.0', { a: 'Alt' }] });
    const entries = await entriesOf(services, draft);
    expect(await changesBy(services, handler, () => carry(draft))).toBe(0);
    expect(await carry(draft)).toEqual({ from: '1.0', languages: [], settingsSchema: false });
    expect([await languagesOf(draft), await entriesOf(services, draft)]).toEqual([before, entries]);
  });

  test('compares the languages of the draft with the English messages that it gets', async () => {
    await published('1.0', { en: { a: 'A {0}' } });
    const draft = await given('2.0', { de: { a: 'Ä' } });
    await carry(draft);
    const { languages } = await getResources(draft.publisher, { handler, version: '2.0' });
    expect(languages.find(({ lang }) => lang === 'de')?.warnings).toMatchObject([{ code: 'placeholders_differ' }]);
  });

  test('the mark of a language and of the schema ends with an edit', async () => {
    await givenVersion(services.db, { handler, version: '1.0', settingsSchema: schema });
    const draft = await given('2.0');
    await published('1.5', { en: { a: 'A' }, de: { a: 'Ä' } });
    await carry(draft);
    await draft.set('de', { a: 'Ää' });
    expect(await languagesOf(draft)).toEqual({ en: ['1.5', { a: 'A' }], de: [null, { a: 'Ää' }] });
    const withSchema = await given('1.2');
    await carry(withSchema);
    await setSettingsSchema(draft.publisher, { handler, version: '1.2', schema: {} });
    expect((await getVersion(draft.publisher, { handler, version: '1.2' })).settingsSchemaFrom).toBeNull();
  });

  test('takes the highest published version below: no draft, no withdrawn version, no higher version', async () => {
    await published('1.9', { en: { a: 'nine' } });
    await published('1.10', { en: { a: 'ten' } });
    await given('1.11', { en: { a: 'draft' } });
    await given('1.12', { en: { a: 'withdrawn' } }, 'withdrawn');
    await published('3.0', { en: { a: 'higher' } });
    const draft = await given('2.0');
    expect(await carry(draft)).toMatchObject({ from: '1.10' });
    expect(await languagesOf(draft)).toEqual({ en: ['1.10', { a: 'ten' }] });
  });

  test('changes nothing without a previous version, or in a version that is published', async () => {
    expect(await carry(await given('1.0'))).toEqual({ from: null, languages: [], settingsSchema: false });
    await published('0.9', { en: { a: 'A' } });
    const fixed = await given('1.1', {}, 'published');
    expect(await carry(fixed)).toMatchObject({ languages: [], settingsSchema: false });
    expect(await languagesOf(fixed)).toEqual({});
  });

  test('needs the rights of a publisher in the namespace', async () => {
    const draft = await given('2.0');
    for (const [role, namespaces, code] of [
      ['viewer', ['Acme.Words'], 'forbidden'],
      ['operator', ['Acme.Words'], 'forbidden'],
      ['publisher', ['Acme.Other'], 'namespace_forbidden'],
    ] as const) {
      const ctx = await contextOf(services, role, namespaces);
      await expect(carryOver(ctx, { handler, version: '2.0' })).rejects.toMatchObject({ code });
    }
    const unknown = carryOver(draft.publisher, { handler, version: '9.9' });
    await expect(unknown).rejects.toMatchObject({ code: 'version_unknown' });
  });
});
