import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GivenAgent, givenAgent, openAgentDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

let door: RestDoor;
let agents: Awaited<ReturnType<typeof openAgentDoor>>;
let agent: GivenAgent;

const at = { handler: 'Acme.Lab.Probe', version: '1.0.0.0' };
const file = (lang: string, text: string) => [{ version: 1.0, lang, messages: [{ id: '1215', text }] }];

interface View {
  health: string;
  agent: { status: string };
  explanation: { act: { hasOutput: boolean } | null } | null;
  extensions: {
    health: string;
    done: boolean;
    handlerState: { outputTail?: string };
    status: { message: { text: string; lang: string; source: string } };
  }[];
}

const read = async (acceptLanguage: string, as: 'viewer' | 'operator' = 'viewer') => {
  const call = { as, headers: { 'accept-language': acceptLanguage } };
  const reply = await door.call('GET', `/vms/${agent.vmId}/instance-view`, call);
  const view = await door.expect<View>('getInstanceView', { id: agent.vmId }, 200, call);
  return { headers: reply.headers, view, message: view.extensions[0]?.status.message };
};

beforeAll(async () => {
  door = await openRestDoor();
  agents = await openAgentDoor(door.services);
  await givenVersion(door.services.db);
  for (const [lang, text] of [
    ['en', 'Failed to establish connection to {0} as {1}'],
    ['de', '{1} fehler beim Anschluss an {0} herzustellen'],
    ['zh-Hant', '無法以 {1} 連線到 {0}'],
  ] as const) {
    await door.expect('setResources', { ...at, lang }, 200, { body: file(lang, text) });
  }
  agent = await givenAgent(await testContext({ services: door.services }), agents, 'web-1');
  const body = { ...at, state: 'enabled' };
  await door.expect('setExtension', { id: agent.vmId, name: 'probe' }, 200, { body });
  await agent.call('/goal-state');
  const status = {
    status: 'error',
    operation: 'connect',
    code: 12,
    message: { id: '1215', params: ['sql', 'Joe'] },
    substatus: [{ name: 'login', status: 'success', code: 0, formattedMessage: { lang: 'en', message: 'ok' } }],
  };
  const report = {
    reportNumber: 1,
    handlers: [{ extension: 'probe', version: '1.0.0.0', sequenceNumber: 1, state: 'enabled', output: 'raw output' }],
    statuses: [
      {
        extension: 'probe',
        sequenceNumber: 1,
        ageSeconds: 1,
        readSecondsAgo: 0,
        file: [{ version: 1.0, timestampUTC: new Date().toISOString(), status }],
      },
    ],
  };
  const answer = await agent.call('/reports', { method: 'POST', body: JSON.stringify(report) });
  expect(answer.status).toBe(204);
});
afterAll(async () => {
  await agents.close();
  await door.close();
});

describe('an instance view', () => {
  test.each([
    ['en', 'en', 'Failed to establish connection to sql as Joe'],
    ['de-AT', 'de', 'Joe fehler beim Anschluss an sql herzustellen'],
    ['zh-TW', 'zh-Hant', '無法以 Joe 連線到 sql'],
    ['fr', 'en', 'Failed to establish connection to sql as Joe'],
    ['*', 'en', 'Failed to establish connection to sql as Joe'],
    [';;q=x,,de-', 'en', 'Failed to establish connection to sql as Joe'],
  ])('AZ-L3 for Accept-Language %s is in %s, and says so', async (header, lang, text) => {
    const { headers, message } = await read(header);
    expect(message).toMatchObject({ text, lang, source: 'resource', id: '1215', params: ['sql', 'Joe'] });
    expect(headers.get('content-language')?.split(', ')).toContain(lang);
    expect(headers.get('vary')).toBe('Accept-Language');
  });

  test('AZ-L2 a translation that is added later applies immediately', async () => {
    await door.expect('setResources', { ...at, lang: 'fr' }, 200, { body: file('fr', 'Connexion à {0} : {1}') });
    expect((await read('fr')).message).toMatchObject({ lang: 'fr', text: 'Connexion à sql : Joe' });
  });

  test('AZ-S6 shows the health of extension and VM, and output only to operators', async () => {
    const { view } = await read('en');
    expect(view).toMatchObject({ health: 'failed', agent: { status: 'ready' }, extensions: [{ health: 'failed' }] });
    expect(JSON.stringify(view)).not.toContain('raw output');
    expect((await read('en', 'operator')).view.extensions[0]?.handlerState.outputTail).toBe('raw output');
  });

  test('explains as data why the VM is not done; output is only for operators', async () => {
    const { view } = await read('en');
    const title = { code: 'error', values: { name: 'probe' }, at: null };
    expect(view.explanation).toEqual({
      question: 'notDone',
      extension: 'probe',
      lead: { code: 'lead.error', values: { name: 'probe' }, at: null },
      links: [
        {
          kind: 'touch',
          status: 'healthy',
          holds: true,
          extension: null,
          queueEntry: null,
          execution: null,
          title: { code: 'touch.ready', values: {}, at: null },
          detail: { code: 'touch.last', values: {}, at: expect.any(String) },
        },
        {
          kind: 'delivery',
          status: 'healthy',
          holds: true,
          extension: 'probe',
          queueEntry: null,
          execution: null,
          title: { code: 'delivery.done', values: {}, at: null },
          detail: { code: 'delivery.at', values: { sequence: 1 }, at: expect.any(String) },
        },
        {
          kind: 'cause',
          status: 'failed',
          holds: false,
          extension: 'probe',
          queueEntry: null,
          execution: null,
          title,
          detail: { code: 'error.detail', values: { code: 12 }, at: expect.any(String) },
        },
      ],
      act: { extension: 'probe', editable: true, hasOutput: false, failed: true },
    });
    expect(view.extensions[0]?.done).toBe(false);
    expect((await read('en', 'operator')).view.explanation?.act?.hasOutput).toBe(true);
  });

  test('of an unknown VM is 404', async () => {
    const unknownId = '00000000-0000-4000-8000-000000000000';
    await door.expect('getInstanceView', { id: unknownId }, [404, 'vm_unknown'], { as: 'viewer' });
  });

  test('lists the reports of a VM', async () => {
    type Page = { items: { kind: string }[] };
    const page = await door.expect<Page>('listReports', { id: agent.vmId }, 200, { as: 'operator' });
    expect(page.items.map(({ kind }) => kind).toSorted()).toEqual(['handler', 'status']);
    const none = await door.expect<Page>('listReports', { id: agent.vmId }, 200, { query: '?extension=other' });
    expect(none.items).toEqual([]);
  });
});

test('every documented status of these calls was received', () => {
  expect(door.unmet(['getInstanceView', 'listReports'])).toEqual([]);
});

test('AZ-S1 names a rejected status with path and message, in the requested language', async () => {
  const statuses = [{ extension: 'probe', sequenceNumber: 1, ageSeconds: 1, file: [{ version: 3 }] }];
  const reply = await agent.call('/reports', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ statuses }),
  });
  expect(reply.status).toBe(400);
  const { view } = await read('de');
  expect(view.extensions[0]).toMatchObject({
    status: { message: { source: 'resource' } },
    refusedStatus: {
      sequenceNumber: 1,
      faults: expect.arrayContaining([
        { path: '/0/version', code: 'file_version', message: 'Die Version muss 1.0 sein.' },
      ]),
    },
  });
});
