import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentPresence } from '#db/schema/index.ts';
import { foldHealth } from '#server/domain/health/index.ts';
import { setResources } from '#server/domain/localization/index.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';
import { fleetLines } from './download-fleet.ts';

const start = new Date();
let door: RestDoor;

beforeAll(async () => {
  door = await openRestDoor();
  const { services } = door;
  const { handler, version } = await givenVersion(services.db, { reportHeartbeat: false });
  for (const [lang, text] of [
    ['en', 'Disk {0} is full'],
    ['de', 'Datenträger {0} ist voll'],
  ] as const) {
    const file = [{ version: 1.0, lang, messages: [{ id: 'disk_full', text }] }];
    await setResources(await testContext({ services }), { handler, version, lang, file });
  }
  const of = { extension: 'probe', sequenceNumber: 1 };
  const status = { status: 'error', message: { id: 'disk_full', params: ['sdb1'] } };
  const reports = [
    {
      statuses: [
        {
          ...of,
          ageSeconds: 1,
          readSecondsAgo: 0,
          file: [{ version: 1, timestampUTC: '2026-01-01T00:00:00Z', status }],
        },
      ],
    },
    { handlers: [{ ...of, version, state: 'failed', command: 'enable', exitCode: 51 }] },
  ];
  for (const report of reports) {
    const vm = await givenVm(services, 'statuses' in report ? 'full' : 'mount');
    await vm.declare('probe');
    await vm.deliver(start);
    const nextExpectedAt = new Date(start.getTime() + 60_000);
    await services.db.insert(agentPresence).values({ vmId: vm.vmId, lastSeenAt: start, nextExpectedAt });
    await ingestReport(await vm.agent(start), { vmId: vm.vmId, report, receivedAt: start });
  }
  while ((await foldHealth(services, start)) > 0);
});
afterAll(() => door.close());

async function list(query: string, language: string) {
  const { body } = await door.call('GET', `/vms?${query}`, { headers: { 'accept-language': language } });
  const { items } = body as { items: { name: string; reason: { text: string; lang: string } | null }[] };
  return items.map(({ name, reason }) => [name.split('-')[0], reason?.text, reason?.lang]);
}

test('a reason is the message of the handler, or the cause in words, in the language of the caller', async () => {
  expect(await list('cause=status', 'de')).toEqual([['full', 'Datenträger sdb1 ist voll', 'de']]);
  expect(await list('cause=exit', 'de')).toEqual([['mount', 'enable: Exitcode 51', 'de']]);
  expect(await list('cause=exit', 'en')).toEqual([['mount', 'enable: exit code 51', 'en']]);
});

test('filters on an extension, joined by commas, must match the same extension', async () => {
  expect(await list('state=failed,degraded&cause=exit&exitCode=51&command=enable', 'en')).toHaveLength(1);
  expect(await list('cause=status&exitCode=51', 'en')).toEqual([]);
  expect(await list('olderThan=1.0.0.1&version=1.0.*,2.*', 'en')).toHaveLength(2);
  expect(await list('olderThan=1.0', 'en')).toEqual([]);
  expect(await list(`stateAfter=${start.toISOString()}&messageId=disk_full`, 'en')).toHaveLength(1);
});

test.each([
  ['olderThan=2.*', 'version_form'],
  ['state=ill', 'field_choice'],
  ['stateAfter=yesterday', 'field_format'],
  ['exitCode=x', 'field_not_number'],
])('?%s is rejected with %s', async (query, code) => {
  const { status, body } = await door.call('GET', `/vms?${query}`);
  expect([status, body]).toMatchObject([400, { code: 'invalid', errors: [{ code }] }]);
});

test('an export has the reason as text and as codes', async () => {
  const ctx = await testContext({ services: door.services, role: 'viewer', now: start });
  const rows: string[] = [];
  for await (const line of fleetLines(ctx, new URLSearchParams('cause=status&lang=de'), 'csv')) rows.push(line);
  const [head = '', row = ''] = rows.join('').trimEnd().split('\r\n');
  expect(head).toMatch(/"Grund","Grund: Erweiterung","Grund: Ursache","Grund: Exitcode","Grund: Meldungs-ID"$/);
  expect(row).toMatch(/"Datenträger sdb1 ist voll","probe","status",,"disk_full"$/);
  const lines: string[] = [];
  for await (const line of fleetLines(ctx, new URLSearchParams('cause=exit&lang=en'), 'jsonl')) lines.push(line);
  expect(JSON.parse(lines.join(''))).toMatchObject({
    reason: { extension: 'probe', cause: 'exit', command: 'enable', exitCode: 51, text: 'enable: exit code 51' },
  });
});
