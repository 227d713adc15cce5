import { eq, sql } from 'drizzle-orm';
import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { changes, reportedMessages } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import { longTest } from '#server/testing/long.ts';
import { gatherReportedMessages } from './gather-reported-messages.ts';
import { listUnknownMessages } from './list-unknown-messages.ts';
import { setResources } from './set-resources.ts';

let services: Services;
const start = new Date();
const later = (seconds: number) => new Date(start.getTime() + seconds * 1000);
const ages = { ageSeconds: 0, readSecondsAgo: 0 };

beforeAll(async () => {
  services = await testServices();
});

async function givenProbe(handler: string): Promise<GivenVm> {
  await givenVersion(services.db, { handler });
  const vm = await givenVm(services);
  await vm.declare('probe', { handler });
  await vm.deliver(start);
  return vm;
}

const send = async (vm: GivenVm, report: object, receivedAt = start) =>
  ingestReport(await vm.agent(receivedAt), { vmId: vm.vmId, report, receivedAt });
const status = (fields: object) => ({
  statuses: [
    {
      extension: 'probe',
      sequenceNumber: 1,
      ...ages,
      file: [{ version: 1, timestampUTC: '2026-01-01T00:00:00Z', status: { status: 'success', ...fields } }],
    },
  ],
});
const unknown = async (handler: string, lang = 'en') =>
  listUnknownMessages(await testContext({ services, role: 'viewer' }), { handler, lang });
const resources = async (handler: string, lang: string, messages: Record<string, string>) =>
  setResources(await testContext({ services }), {
    handler,
    version: '1.0.0.0',
    lang,
    file: [{ version: 1, lang, messages: Object.entries(messages).map(([id, text]) => ({ id, text })) }],
  });

test('ids of statuses, substatuses and heartbeats appear in the inbox until they have a message', async () => {
  const handler = 'Acme.Inbox.Probe';
  const vm = await givenProbe(handler);
  await send(vm, status({ message: { id: 'disk', params: ['/dev/sda', '97'] } }));
  await send(
    vm,
    {
      ...status({
        message: { id: 'disk', params: ['/dev/sdb', '98'] },
        substatus: [{ name: 'a', status: 'error', message: { id: 'deep', params: [] } }],
      }),
      heartbeats: [
        {
          extension: 'probe',
          ...ages,
          file: [{ version: 1, heartbeat: { status: 'ready', message: { id: 'beat' } } }],
        },
      ],
    },
    later(1),
  );
  await gatherReportedMessages(services, later(10));

  const { items, total } = await unknown(handler);
  expect(total).toBe(3);
  expect(items.map(({ id, reports, versions }) => ({ id, reports, versions }))).toEqual([
    { id: 'beat', reports: 1, versions: ['1.0.0.0'] },
    { id: 'deep', reports: 1, versions: ['1.0.0.0'] },
    { id: 'disk', reports: 2, versions: ['1.0.0.0'] },
  ]);
  expect(items[2]).toMatchObject({ params: ['/dev/sdb', '98'], lastSeenAt: later(1) });
  expect((await unknown(handler, 'de')).items).toEqual([]);

  await resources(handler, 'en', { disk: 'Disk {0} is full', deep: '  ' });
  expect((await unknown(handler)).items.map(({ id }) => id)).toEqual(['beat', 'deep']);
  expect((await unknown(handler, 'de-AT')).items.map(({ id }) => id)).toEqual(['disk']);
  await resources(handler, 'de', { disk: 'Datenträger {0} ist voll' });
  expect((await unknown(handler, 'de-AT')).items).toEqual([]);
});

test('an entry is counted once, and a recent report is read later', async () => {
  const handler = 'Acme.Inbox.Once';
  const vm = await givenProbe(handler);
  await send(vm, status({ message: { id: 'first', params: [] } }), later(20));
  await gatherReportedMessages(services, later(21));
  expect((await unknown(handler)).total).toBe(0);
  await gatherReportedMessages(services, later(30));
  await gatherReportedMessages(services, later(30));
  expect((await unknown(handler)).items).toMatchObject([{ id: 'first', reports: 1 }]);
  const [{ hints = 0 } = {}] = await services.db
    .select({ hints: sql<number>`count(*)::int` })
    .from(changes)
    .where(eq(changes.key, handler));
  await send(vm, status({ message: { id: 'first', params: ['again'] } }), later(31));
  await gatherReportedMessages(services, later(40));
  expect((await unknown(handler)).items).toMatchObject([{ id: 'first', reports: 2, params: ['again'] }]);
  const [after] = await services.db
    .select({ hints: sql<number>`count(*)::int` })
    .from(changes)
    .where(eq(changes.key, handler));
  // A report of a known id does not notify open pages.
  expect(after?.hints).toBe(hints);
});

test('a handler that invents ids fills only its own 500 places', async () => {
  const handler = 'Acme.Inbox.Babbler';
  const vm = await givenProbe(handler);
  for (const round of [0, 1]) {
    const substatus = Array.from({ length: 400 }, (_, index) => ({
      name: `s${index}`,
      status: 'success',
      message: { id: `made-up-${round}-${index}`, params: ['x'.repeat(1000)] },
    }));
    await send(vm, status({ substatus }), later(50 + round));
  }
  await gatherReportedMessages(services, later(60));
  const rows = await services.db.select().from(reportedMessages).where(eq(reportedMessages.handler, handler));
  expect(rows).toHaveLength(500);
  expect(rows.filter(({ id }) => id.startsWith('made-up-1-'))).toHaveLength(400);
  expect(rows.every(({ params }) => params.every((param) => param.length <= 200))).toBe(true);
  expect(await unknown(handler)).toMatchObject({ total: 500, items: { length: 100 } });
});

longTest('large reports are read a few at a time: 60 of 0.9 MB are never in memory together', async () => {
  const handler = 'Acme.Inbox.Large';
  const vm = await givenProbe(handler);
  const document = {
    file: [
      {
        version: 1,
        timestampUTC: '2026-01-01T00:00:00Z',
        status: { status: 'success', message: { id: 'large', params: [] } },
      },
    ],
  };
  await services.db.execute(sql`
    insert into report_history (vm_id, at, kind, extension, sequence_number, current, document)
    select ${vm.vmId}::uuid, ${later(70).toISOString()}::timestamptz + n * interval '1 ms', 'status', 'probe', 1, true,
      (${JSON.stringify(document)}::jsonb || jsonb_build_object('filler', repeat(md5(n::text), 28000)))::json
      from generate_series(1, 60) n`);
  const most = { bytes: 0 };
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const answer = Reflect.apply(query, this, args) as Promise<pg.QueryResult> | undefined;
    void answer?.then?.(({ rows = [] }) => {
      most.bytes = Math.max(most.bytes, Buffer.byteLength(JSON.stringify(rows)));
    });
    return answer;
  } as typeof query;
  try {
    await gatherReportedMessages(services, later(90));
  } finally {
    pg.Client.prototype.query = query;
  }
  expect(most.bytes).toBeLessThan(10 * 1024 * 1024);
  expect((await unknown(handler)).items).toMatchObject([{ id: 'large', reports: 60 }]);
});
