import { beforeAll, expect, test } from 'vitest';
import { extensionLatest, reportHistory } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { getInstanceView } from '#server/domain/views/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import { loadMatcher } from './load-matcher.ts';
import { setResources } from './set-resources.ts';

let services: Services;
const start = new Date();
const version = '1.0.0.0';

beforeAll(async () => {
  services = await testServices();
});

async function givenMessages(handler: string, lang: string, messages: Record<string, string>): Promise<void> {
  await setResources(await testContext({ services }), {
    handler,
    version,
    lang,
    file: [{ version: 1, lang, messages: Object.entries(messages).map(([id, text]) => ({ id, text })) }],
  });
}

test('a report without ids is stored with recovered ids, and each reader gets their language', async () => {
  const handler = 'Acme.Recovery.Probe';
  await givenVersion(services.db, { handler });
  await givenMessages(handler, 'en', { watch: 'Watching {0}.', reach: '{0} answers.', beat: 'Alive since {0}.' });
  await givenMessages(handler, 'de', { watch: '{0} wird beobachtet.', reach: '{0} antwortet.' });
  const vm = await givenVm(services);
  await vm.declare('probe', { handler });
  await vm.deliver(start);
  const { matcher } = await loadMatcher(services.db, { handler, version });
  if (matcher === null) throw new Error('the version has resource files');
  const statusOf = (message: string) => ({ formattedMessage: { lang: 'en-US', message } });
  const ages = { extension: 'probe', ageSeconds: 0, readSecondsAgo: 0 };
  // A file cannot claim that a message's id was recovered; the portal ignores the claim.
  const forged = { message: { id: 'watch', params: ['x'], recovered: true } };
  const status = {
    status: 'success',
    ...statusOf('Watching db-1.'),
    substatus: [
      { name: 'target', status: 'success', ...statusOf('db-1 answers.') },
      { name: 'other', status: 'success', ...statusOf('Something else.') },
      { name: 'forged', status: 'success', ...forged },
    ],
  };
  await ingestReport(await vm.agent(start), {
    vmId: vm.vmId,
    receivedAt: start,
    recover: new Map([['probe', matcher]]),
    report: {
      statuses: [{ ...ages, sequenceNumber: 1, file: [{ version: 1, timestampUTC: '2026-01-01T00:00:00Z', status }] }],
      heartbeats: [
        { ...ages, file: [{ version: 1, heartbeat: { status: 'ready', ...statusOf('Alive since 12:00.') } }] },
      ],
    },
  });

  const [latest] = await services.db.select().from(extensionLatest);
  expect(latest?.status).toMatchObject({
    message: { id: 'watch', params: ['db-1'], recovered: true },
    ...statusOf('Watching db-1.'),
    substatus: [{ message: { id: 'reach', recovered: true } }, statusOf('Something else.'), {}],
  });
  expect(latest?.status?.substatus[1]).not.toHaveProperty('message');
  const history = await services.db.select().from(reportHistory);
  expect(JSON.stringify(history.map(({ document }) => document)).split('"recovered":true')).toHaveLength(2);

  const view = async (chosenLanguage: string) => {
    const ctx = await testContext({ services, role: 'viewer' });
    return (await getInstanceView(ctx, { vmId: vm.vmId, chosenLanguage })).extensions[0];
  };
  const german = await view('de');
  expect(german?.status?.message).toEqual({
    text: 'db-1 wird beobachtet.',
    lang: 'de',
    source: 'recovered',
    id: 'watch',
    params: ['db-1'],
    original: 'Watching db-1.',
  });
  expect(german?.status?.substatus.map(({ message }) => [message?.text, message?.source])).toEqual([
    ['db-1 antwortet.', 'recovered'],
    ['Something else.', 'formatted'],
    ['x wird beobachtet.', 'resource'],
  ]);
  // The heartbeat has no German message, so the English message is shown, with the text that was sent.
  expect(german?.heartbeat.message).toEqual({
    text: 'Alive since 12:00.',
    lang: 'en',
    source: 'recovered',
    id: 'beat',
    params: ['12:00'],
    original: 'Alive since 12:00.',
  });
  expect((await view('en'))?.status?.message).toMatchObject({ text: 'Watching db-1.', source: 'recovered' });
});
