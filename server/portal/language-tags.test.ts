import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { canonicalLanguage, negotiate, read, resourceFile } from '#protocol/index.ts';
import type { Context } from '#server/domain/context.ts';
import { foldHealth } from '#server/domain/health/index.ts';
import { setResources } from '#server/domain/localization/index.ts';
import { type GivenAgent, givenAgent, givenProbe } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { openPortalDoors, type PortalDoors } from '#server/testing/portal-doors.ts';
import { randomTags } from '#server/testing/random-tags.ts';

const breakers = ['und-DE', 'und', 'und-Latn-DE', 'UND_us'];
/** How many language tags to try; `npm run test:malformed` tries 10,000. */
const count = Number(process.env.ANNEX_LANGUAGE_TAGS ?? 500);
const tags = [...breakers, ...randomTags(count - breakers.length, 20_260_101)];
/** In headers, characters other than printable ASCII are replaced. */
const headerTags = tags.map((tag) => tag.replaceAll(/[^\x20-\x7e]/g, '~'));
const at = { handler: 'Acme.Lab.Probe', version: '1.0.0.0' };
const file = (lang: string) => [{ version: 1.0, lang, messages: [{ id: '1215', text: 'Down: {0}' }] }];

let portal: PortalDoors;
let ctx: Context;

beforeAll(async () => {
  portal = await openPortalDoors();
  ctx = await testContext({ services: portal.services });
  await givenVersion(ctx.db);
  await setResources(ctx, { ...at, lang: 'en', file: file('en') });
});
afterAll(() => portal.close());

/** Creates a VM whose agent reports a failure with these languages in its substatuses. */
async function vmThatSpeaks(name: string, languages: readonly string[]): Promise<GivenAgent> {
  const agent = await givenAgent(ctx, { url: `${portal.url}/agent/v1` }, name);
  await givenProbe(ctx, agent.vmId);
  await agent.call('/goal-state');
  const formatted = (lang: string) => ({ lang: lang.toWellFormed(), message: 'down' });
  const status = {
    status: 'error',
    message: { id: '1215', params: ['sql'] },
    formattedMessage: formatted(languages[0] ?? ''),
    substatus: languages.map((lang) => ({ status: 'error', formattedMessage: formatted(lang) })),
  };
  const statuses = [
    { extension: 'probe', sequenceNumber: 1, ageSeconds: 1, file: [{ version: 1, timestampUTC: '', status }] },
  ];
  const answer = await agent.call('/reports', { method: 'POST', body: JSON.stringify({ statuses }) });
  expect(answer.status).toBe(204);
  return agent;
}

const view = (vmId: string, acceptLanguage: string) =>
  portal.fetch(`/api/v1/vms/${vmId}/instance-view`, {
    headers: { authorization: `Bearer ${portal.tokens.viewer}`, 'accept-language': acceptLanguage },
  });

/** Requests page data like a browser, with the chosen language in the cookie. */
const page = (procedure: string, input: unknown, acceptLanguage: string, chosen: string) =>
  portal.fetch(`/api/trpc/${procedure}?input=${encodeURIComponent(JSON.stringify({ json: input }))}`, {
    headers: {
      cookie: `${portal.cookies.viewer}; annex-language=${encodeURIComponent(chosen.toWellFormed())}`,
      'accept-language': acceptLanguage,
    },
  });

vi.setConfig({ testTimeout: 180_000 });

const inGroups = (list: readonly string[], size: number): string[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, index) => list.slice(index * size, (index + 1) * size));

test('AZ-L3 no language of a user breaks an instance view, a VM page or the overview', async () => {
  const { vmId } = await vmThatSpeaks('reader', ['und-DE', 'de']);
  await foldHealth(portal.services, new Date());
  for (const group of inGroups(headerTags, 50)) {
    const header = group.join(',');
    expect([(await view(vmId, header)).status, header]).toEqual([200, header]);
  }
  for (const [index, tag] of tags.slice(0, 100).entries()) {
    const header = headerTags[index] ?? '';
    const answers = [
      await view(vmId, header),
      await page('instanceViews.get', { vmId }, header, tag),
      await page('vms.get', { vmId: 'none' }, header, tag),
    ];
    expect([...answers.map(({ status }) => status), tag]).toEqual([200, 200, 422, tag]);
  }
  // Each request sends many tags in its header, and one as the chosen language.
  for (const tag of breakers) {
    const answer = await page('overview.failing', undefined, headerTags.slice(0, 40).join(','), tag);
    expect([answer.status, tag]).toEqual([200, tag]);
  }
});

test('AZ-S1 no language in a report breaks an instance view or VM page, and each text keeps its language', async () => {
  for (const [index, group] of inGroups(tags, 1_000).entries()) {
    const { vmId } = await vmThatSpeaks(`guest-${index}`, group);
    for (const header of ['de-AT, fr;q=0.5', 'zh-TW', 'und-DE']) {
      const answer = await view(vmId, header);
      expect(answer.status).toBe(200);
      const named = (answer.headers.get('content-language') ?? 'en').split(', ');
      expect(named.filter((tag) => canonicalLanguage(tag) !== tag)).toEqual([]);
    }
    expect((await page('instanceViews.get', { vmId }, 'de', '')).status).toBe(200);
  }
});

test("AZ-L1 a resource file's language is stored by its canonical tag or rejected", async () => {
  for (const tag of tags) {
    const found = read(resourceFile, file(tag));
    const canonical = canonicalLanguage(tag);
    expect('value' in found ? found.value.lang : null).toBe(canonical);
    if (canonical !== null) expect(canonicalLanguage(canonical)).toBe(canonical);
    negotiate({ chosenLanguage: tag })[0]?.serves('zh-TW');
  }
  for (const tag of tags.slice(0, 200)) {
    const sent = encodeURIComponent(tag.toWellFormed());
    if (sent === '' || sent === '.' || sent === '..') continue;
    const answer = await portal.fetch(`/api/v1/handlers/${at.handler}/versions/${at.version}/resources/${sent}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${portal.tokens.admin}`, 'content-type': 'application/json' },
      body: JSON.stringify(file(tag.toWellFormed())),
    });
    expect([answer.status < 500, tag]).toEqual([true, tag]);
  }
  const { vmId } = await vmThatSpeaks('resources', breakers);
  expect((await view(vmId, 'und-DE, de')).status).toBe(200);
});
