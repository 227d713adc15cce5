import { beforeAll, describe, expect, test } from 'vitest';
import { reportedMessages } from '#db/schema/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { testServices } from '#server/testing/context.ts';
import { listUnknownMessages } from './index.ts';
import { contextOf, givenWords, type Texts } from './testing/words.ts';

let services: Services;
let viewer: Context;
beforeAll(async () => {
  services = await testServices();
  viewer = await contextOf(services, 'viewer');
});

const seen = (minute: number) => new Date(Date.UTC(2030, 0, 1, 10, minute));

/** Records that VMs reported this id. */
const report = (handler: string, version: string, id: string, { minute = 0, reports = 1, params = ['sda'] } = {}) =>
  services.db.insert(reportedMessages).values({
    ...{ handler, version, id, params, reports },
    ...{ firstSeenAt: seen(0), lastSeenAt: seen(minute) },
  });

const unknown = async (handler: string, lang: string) =>
  (await listUnknownMessages(viewer, { handler, lang })).items.map(({ id }) => id);

describe('reported ids without a text', () => {
  const english: Texts = { a: 'A', b: 'B', blank: ' \u00a0' };
  test.each<[what: string, lang: string, languages: Record<string, Texts>, found: string[]]>([
    ['for English, without any language', 'en', {}, ['a', 'b', 'blank']],
    ['for English', 'en', { en: english }, ['blank']],
    ['for an English region', 'en-GB', { en: english }, ['blank']],
    ['for English, while German has them', 'en', { en: {}, de: { a: 'Ä', b: 'Be' } }, ['a', 'b', 'blank']],
    ['for German, without German', 'de', { en: english }, ['a', 'b']],
    ['for German', 'de', { en: english, de: { a: 'Ä', blank: 'leer' } }, ['b']],
    ['for German, with a blank translation', 'de', { en: english, de: { a: '\ufeff', b: 'Be' } }, ['a']],
    ['for Austria, which German serves', 'de-AT', { en: english, de: { a: 'Ä' } }, ['b']],
    ['for Austria, in both files', 'de-AT', { en: english, de: { a: 'Ä' }, 'de-AT': { b: 'Be' } }, []],
    ['for German, which Austria does not serve', 'de', { en: english, 'de-AT': { a: 'Ä' } }, ['a', 'b']],
    ['for a language that no English message has', 'de', { en: {} }, []],
    ['for something that names no language', '?', { en: english }, []],
  ])('%s', async (_, lang, languages, found) => {
    const { handler, version } = await givenWords(services, languages);
    for (const id of ['a', 'b', 'blank']) await report(handler, version, id);
    expect((await unknown(handler, lang)).toSorted()).toEqual(found);
  });

  test('have their newest params, all their reports, and the versions that lack them, highest first', async () => {
    const { handler } = await givenWords(services, {}, { version: '1.9' });
    await givenWords(services, {}, { handler, version: '1.10' });
    await givenWords(services, { en: { full: 'Full' } }, { handler, version: '2.0' });
    await report(handler, '1.9', 'full', { minute: 5, reports: 3, params: ['sdb'] });
    await report(handler, '1.10', 'full', { minute: 4, reports: 4 });
    await report(handler, '2.0', 'full', { minute: 9, reports: 100 });
    expect(await listUnknownMessages(viewer, { handler })).toEqual({
      items: [{ id: 'full', params: ['sdb'], reports: 7, lastSeenAt: seen(5), versions: ['1.10', '1.9'] }],
      total: 1,
    });
  });

  test('are listed newest first, a hundred at most, with their number', async () => {
    const { handler, version } = await givenWords(services);
    for (let n = 0; n < 105; n += 1) await report(handler, version, `id ${n}`, { minute: n % 60 });
    const { items, total } = await listUnknownMessages(viewer, { handler });
    expect([items.length, total]).toEqual([100, 105]);
    const times = items.map(({ lastSeenAt }) => lastSeenAt.getTime());
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  });

  test('of another handler are not listed, and an unknown handler has no such ids', async () => {
    const [one, other] = [await givenWords(services), await givenWords(services)];
    await report(one.handler, one.version, 'only here');
    expect([await unknown(one.handler, 'en'), await unknown(other.handler, 'en')]).toEqual([['only here'], []]);
    expect(await listUnknownMessages(viewer, { handler: 'No.Such.Handler' })).toEqual({ items: [], total: 0 });
  });
});
