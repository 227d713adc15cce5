import { and, eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  agentPresence,
  changes,
  extensionLatest,
  extensionPulse,
  extensionSequences,
  extensions,
  reportHistory,
  vms,
} from '#db/schema/index.ts';
import heartbeatSample from '#protocol/fixtures/heartbeat-sample.json' with { type: 'json' };
import statusLocalized from '#protocol/fixtures/status-localized.json' with { type: 'json' };
import statusStructure from '#protocol/fixtures/status-structure.json' with { type: 'json' };
import statusPlain from '#protocol/fixtures/status-without-localization.json' with { type: 'json' };
import type { Services } from '#server/domain/context.ts';
import { removeExtension } from '#server/domain/goal-states/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import { listReportHistory } from './list-report-history.ts';

let services: Services;
const start = new Date('2026-01-01T12:00:00Z');
const later = (seconds: number) => new Date(start.getTime() + seconds * 1000);

beforeAll(async () => {
  services = await testServices();
  await givenVersion(services.db, { supportsMultipleExtensions: true });
});

const send = async (vm: GivenVm, report: unknown, receivedAt = start) =>
  ingestReport(await vm.agent(receivedAt), { vmId: vm.vmId, report, receivedAt });
const statusFile = (status: string, extra: object = {}) => [
  { version: 1.0, timestampUTC: '2026-01-01T00:00:00Z', status: { status, ...extra } },
];
const heartbeatFile = (status: string) => [{ version: 1.0, heartbeat: { status } }];
const status = (sequenceNumber: number, word: string, extra: object = {}) => ({
  statuses: [
    { extension: 'probe', sequenceNumber, ageSeconds: 4, readSecondsAgo: 0, file: statusFile(word), ...extra },
  ],
});
const heartbeat = (word: string, extra: object = {}) => ({
  heartbeats: [{ extension: 'probe', ageSeconds: 4, readSecondsAgo: 0, file: heartbeatFile(word), ...extra }],
});
const handler = (sequenceNumber: number, state: string, extra: object = {}) => ({
  handlers: [{ extension: 'probe', version: '1.0.0.0', sequenceNumber, state, ...extra }],
});
const latest = async ({ vmId }: GivenVm, name = 'probe') => {
  const same = and(eq(extensionLatest.vmId, vmId), eq(extensionLatest.name, name));
  const pulse = and(eq(extensionPulse.vmId, vmId), eq(extensionPulse.name, name));
  const [row] = await services.db.select().from(extensionLatest).innerJoin(extensionPulse, pulse).where(same);
  return row && { ...row.extension_latest, ...row.extension_pulse };
};
const presence = async ({ vmId }: GivenVm) =>
  (await services.db.select().from(agentPresence).where(eq(agentPresence.vmId, vmId)))[0];
const history = async ({ vmId }: GivenVm) =>
  services.db.select().from(reportHistory).where(eq(reportHistory.vmId, vmId)).orderBy(reportHistory.id);
const changesOf = ({ vmId }: GivenVm) => services.db.$count(changes, eq(changes.key, vmId));

async function vmWithProbe(changedTimes = 1): Promise<GivenVm> {
  const vm = await givenVm(services);
  for (let sequence = 1; sequence <= changedTimes; sequence++) {
    await vm.declare('probe', { settings: { publicSettings: { sequence } } });
  }
  await vm.deliver();
  return vm;
}

describe('stored reports', () => {
  test('AZ-S2 stores all samples of the source document in one report', async () => {
    const vm = await vmWithProbe(3);
    const ages = { ageSeconds: 1, readSecondsAgo: 0 };
    const result = await send(vm, {
      heartbeats: [{ extension: 'probe', ...ages, file: heartbeatSample }],
      statuses: [statusPlain, statusStructure, statusLocalized].map((file, index) => {
        return { extension: 'probe', sequenceNumber: index + 1, ...ages, file };
      }),
    });
    expect(result).toMatchObject({ stored: 4, faults: [], removed: [] });
    expect(await latest(vm)).toMatchObject({
      statusSequence: 3,
      status: { status: 'error', code: 12, message: { id: '1215' } },
      heartbeat: { status: 'ready', code: 0 },
    });
    expect(await history(vm)).toHaveLength(4);
  });

  test('limits periods to 1–600 s, stores skew and applied goal state, counts ages from reading', async () => {
    const vm = await vmWithProbe();
    await send(vm, {
      reportNumber: 1,
      run: 'a',
      agentTime: '2026-01-01T13:00:05+01:00',
      appliedEtag: '"x"',
      periods: { heartbeatSeconds: 0.01, statusSeconds: 9000 },
      ...heartbeat('ready', { ageSeconds: 4.5, readSecondsAgo: 20 }),
    });
    expect(await presence(vm)).toMatchObject({
      heartbeatSeconds: 1,
      statusSeconds: 600,
      clockSkewSeconds: 5,
      appliedEtag: '"x"',
      run: 'a',
      reportNumber: 1,
      lastSeenAt: start,
    });
    expect(await latest(vm)).toMatchObject({ heartbeatReadAt: later(-20), heartbeatAgeSeconds: 4.5 });
    await send(vm, {}, later(10));
    expect(await presence(vm)).toMatchObject({ heartbeatSeconds: 1, appliedEtag: '"x"', lastSeenAt: later(10) });
  });

  test('AZ-H1 a heartbeat can precede any configuration; after invalid content, the last valid heartbeat is kept', async () => {
    const vm = await vmWithProbe();
    await send(vm, heartbeat('ready'));
    const wrong = send(vm, heartbeat('fine', { ageSeconds: 1 }), later(60));
    await expect(wrong).rejects.toMatchObject({
      kind: 'bad_request',
      faults: [{ path: '/heartbeats/0/file/0/heartbeat/status', code: 'field_choice' }],
    });
    expect(await latest(vm)).toMatchObject({ heartbeat: { status: 'ready' }, heartbeatReadAt: start, status: null });
  });

  test('AZ-H1 a newer file with the same content is a new heartbeat, but not a new history entry', async () => {
    const vm = await vmWithProbe();
    await send(vm, heartbeat('ready'));
    await send(vm, heartbeat('ready', { ageSeconds: 2 }), later(60));
    expect(await latest(vm)).toMatchObject({ heartbeatReadAt: later(60), heartbeatAgeSeconds: 2 });
    expect(await history(vm)).toHaveLength(1);
  });

  test('a repeated report changes nothing and does not notify open pages', async () => {
    const vm = await vmWithProbe();
    const report = {
      ...handler(1, 'enabled', { exitCode: 0, command: 'enable' }),
      ...status(1, 'success'),
      ...heartbeat('ready'),
    };
    await send(vm, report);
    const [before, notified] = [await history(vm), await changesOf(vm)];
    expect(await send(vm, report, later(1))).toMatchObject({ stored: 3, faults: [] });
    expect(await history(vm)).toEqual(before);
    expect(await changesOf(vm)).toBe(notified);
    expect(await latest(vm)).toMatchObject({ handlerAt: start, concludedAt: start });
  });

  test('one change hint per report, even if only a verdict changes', async () => {
    const vm = await vmWithProbe();
    const notified = await changesOf(vm);
    await send(vm, { ...handler(1, 'enabled'), ...status(1, 'success'), ...heartbeat('ready') });
    expect(await changesOf(vm)).toBe(notified + 1);
    await send(vm, heartbeat('ready'), later(300));
    expect(await changesOf(vm)).toBe(notified + 2);
  });
});

describe('the order of reports', () => {
  test('AZ-S3 shows the highest sequence number; a late report for a lower number is only stored', async () => {
    const vm = await vmWithProbe(3);
    await send(vm, status(2, 'transitioning'));
    expect(await latest(vm)).toMatchObject({ statusSequence: 2 });
    await send(vm, status(3, 'success'));
    expect(await send(vm, status(2, 'error'))).toMatchObject({ stored: 1, faults: [] });
    expect(await latest(vm)).toMatchObject({ statusSequence: 3, status: { status: 'success' } });
    await send(vm, status(2, 'error'));
    expect((await history(vm)).map(({ sequenceNumber, current }) => [sequenceNumber, current])).toEqual([
      [2, true],
      [3, true],
      [2, false],
    ]);
  });

  test('AZ-S3 after a newer goal, a late status of the previous goal changes nothing', async () => {
    const vm = await vmWithProbe();
    await send(vm, status(1, 'success'));
    await vm.declare('probe', { settings: { publicSettings: { changed: true } } });
    await send(vm, status(1, 'error'));
    expect(await latest(vm)).toMatchObject({ statusSequence: 1, status: { status: 'success' } });
    await send(vm, status(2, 'transitioning'));
    expect(await latest(vm)).toMatchObject({ statusSequence: 2, concludedAt: null, concludedWith: null });
  });

  test('within a sequence number, shows the newest status; the first success or error concludes it', async () => {
    const vm = await vmWithProbe();
    await send(vm, status(1, 'transitioning'));
    expect(await latest(vm)).toMatchObject({ concludedAt: null });
    await send(vm, status(1, 'success'), later(5));
    await send(vm, status(1, 'warning'), later(10));
    await send(vm, status(1, 'error'), later(15));
    expect(await latest(vm)).toMatchObject({
      status: { status: 'error' },
      concludedAt: later(5),
      concludedWith: 'success',
    });
  });

  test('a handler’s state for a lower sequence number is history', async () => {
    const vm = await vmWithProbe(2);
    await send(vm, handler(2, 'enabled'));
    await send(vm, handler(1, 'failed'));
    expect(await latest(vm)).toMatchObject({ handlerState: { state: 'enabled', sequenceNumber: 2 } });
    expect((await history(vm)).map(({ current }) => current)).toEqual([true, false]);
  });

  test('a report number that is not higher within its run changes nothing; a new run starts over', async () => {
    const vm = await vmWithProbe();
    await send(vm, { run: 'a', reportNumber: 5, ...status(1, 'success') });
    for (const reportNumber of [5, 4]) {
      expect(await send(vm, { run: 'a', reportNumber, ...status(1, 'error') }, later(1))).toMatchObject({
        stored: 0,
        faults: [],
      });
    }
    expect(await latest(vm)).toMatchObject({ status: { status: 'success' } });
    await send(vm, { run: 'b', reportNumber: 1, ...status(1, 'warning') });
    expect(await latest(vm)).toMatchObject({ status: { status: 'warning' } });
    await send(vm, status(1, 'error'));
    expect(await latest(vm)).toMatchObject({ status: { status: 'error' } });
    expect(await presence(vm)).toMatchObject({ run: 'b', reportNumber: 1 });
  });

  test('numbers count without runs too, and a report without stored entries does not use its number', async () => {
    const vm = await vmWithProbe();
    await expect(send(vm, { reportNumber: 7, ...status(1, 'nonsense') })).rejects.toMatchObject({
      kind: 'bad_request',
    });
    expect(await send(vm, { reportNumber: 7, ...status(1, 'success') })).toMatchObject({ stored: 1 });
    expect(await send(vm, { reportNumber: 7, ...status(1, 'error') })).toMatchObject({ stored: 0 });
    expect(await latest(vm)).toMatchObject({ status: { status: 'success' } });
  });

  test('concurrent reports of one VM are stored one at a time', async () => {
    const vm = await vmWithProbe();
    const numbers = Array.from({ length: 12 }, (_, index) => index + 1);
    const results = await Promise.all(
      numbers.map((reportNumber) =>
        send(vm, { run: 'r', reportNumber, ...status(1, 'warning', { ageSeconds: reportNumber }) }),
      ),
    );
    expect(await presence(vm)).toMatchObject({ reportNumber: 12 });
    expect(await latest(vm)).toMatchObject({ statusAgeSeconds: 12 });
    expect(results.some(({ stored }) => stored === 1)).toBe(true);
  });
});

describe('rejected reports', () => {
  test('stores the valid entries of a report, and lists each fault of the invalid entries by path', async () => {
    const vm = await vmWithProbe();
    const result = await send(vm, {
      handlers: [
        { extension: 'probe', version: '1.0.0.0', sequenceNumber: 1, state: 'enabled' },
        { extension: 'nowhere', sequenceNumber: 1, state: 'enabled' },
        { extension: 'probe', sequenceNumber: 9, state: 'enabled' },
        { extension: 'probe', sequenceNumber: -1, state: 'flying' },
        'nonsense',
      ],
      heartbeats: [{ extension: 'probe', ageSeconds: -1, readSecondsAgo: -5, file: heartbeatFile('ready') }],
      statuses: [{ extension: 'probe', sequenceNumber: 1, ageSeconds: 0, file: [{ version: 2 }] }],
    });
    expect(result.stored).toBe(1);
    expect(result.faults.map(({ path, code }) => `${path} ${code}`)).toEqual([
      '/handlers/3/sequenceNumber field_too_small',
      '/handlers/3/state field_choice',
      '/handlers/4 field_not_object',
      '/heartbeats/0/ageSeconds field_too_small',
      '/heartbeats/0/readSecondsAgo field_too_small',
      '/statuses/0/file/0/version file_version',
      '/statuses/0/file/0/timestampUTC field_missing',
      '/statuses/0/file/0/status field_missing',
      '/handlers/1/extension extension_unknown',
      '/handlers/2/sequenceNumber sequence_unknown',
    ]);
  });

  test.each([
    [[], [' field_not_object']],
    [
      { handlers: {}, periods: 5, agentTime: 'noon' },
      ['/agentTime field_format', '/periods field_not_object', '/handlers field_not_array'],
    ],
    [{ reportNumber: -1, statuses: [{}] }, ['/reportNumber field_too_small', '/statuses/0/extension field_missing']],
  ])('the frame %j is rejected with every fault', async (report, expected) => {
    const vm = await vmWithProbe();
    const refused = send(vm, report).catch((error: { faults: { path: string; code: string }[] }) => error.faults);
    const lines = ((await refused) as { path: string; code: string }[]).map(({ path, code }) => `${path} ${code}`);
    expect(lines).toEqual(expect.arrayContaining(expected));
    expect(await presence(vm)).toBeUndefined();
  });

  test('a fault in an optional part of the report does not reject entries', async () => {
    const vm = await vmWithProbe();
    const result = await send(vm, { agentTime: 'noon', periods: { heartbeatSeconds: 'x' }, ...status(1, 'success') });
    expect(result).toMatchObject({
      stored: 1,
      faults: [
        { path: '/agentTime', code: 'field_format' },
        { path: '/periods/heartbeatSeconds', code: 'field_not_number' },
      ],
    });
    expect(await presence(vm)).toMatchObject({ clockSkewSeconds: null, heartbeatSeconds: null });
  });

  test('a hostile report does not cause a response many times its size', async () => {
    const vm = await vmWithProbe();
    const substatus = Array(1000).fill({});
    const entry = status(1, 'success', { file: statusFile('success', { substatus }) }).statuses[0];
    await expect(send(vm, { statuses: Array(20).fill(entry) })).rejects.toSatisfy(
      (error: { faults: unknown[] }) => error.faults.length === 1000,
    );
  });

  test("rejects a sequence number above the goal's, and later goals continue above it", async () => {
    const vm = await vmWithProbe();
    await expect(send(vm, status(40, 'success'))).rejects.toMatchObject({
      faults: [
        { path: '/statuses/0/sequenceNumber', code: 'sequence_unknown', params: { extension: 'probe', goal: 1 } },
      ],
    });
    await expect(send(vm, status(2 ** 52, 'success'))).rejects.toMatchObject({ kind: 'bad_request' });
    const known = await services.db.select().from(extensionSequences).where(eq(extensionSequences.vmId, vm.vmId));
    expect(known).toMatchObject([{ name: 'probe', highest: 40 }]);
    expect(await vm.declare('probe', { settings: { publicSettings: { next: 1 } } })).toBe(41);
  });

  test("rejects too many entries, and another VM's agent", async () => {
    const vm = await vmWithProbe();
    const one = heartbeat('ready').heartbeats[0];
    await expect(send(vm, { heartbeats: Array(201).fill(one) })).rejects.toMatchObject({
      kind: 'too_large',
      params: { limit: 200 },
    });
    const other = await vmWithProbe();
    const foreign = ingestReport(await other.agent(), { vmId: vm.vmId, report: {}, receivedAt: start });
    await expect(foreign).rejects.toMatchObject({ kind: 'forbidden' });
  });
});

describe('removal', () => {
  test('counts only while the goal is uninstall, and only for its sequence number', async () => {
    const vm = await vmWithProbe();
    await send(vm, handler(1, 'enabled'));
    expect(await send(vm, handler(1, 'removed'))).toMatchObject({ stored: 1, removed: [] });
    expect(await latest(vm)).toMatchObject({ handlerState: { state: 'enabled' } });

    await removeExtension(await testContext({ services, role: 'operator' }), { vmId: vm.vmId, name: 'probe' });
    await send(vm, handler(1, 'removed'));
    expect(await services.db.$count(extensions, eq(extensions.vmId, vm.vmId))).toBe(1);

    const result = await send(vm, handler(2, 'removed'));
    expect(result.removed).toEqual([{ name: 'probe', sequenceNumber: 2 }]);
    expect(await services.db.$count(extensions, eq(extensions.vmId, vm.vmId))).toBe(0);
    expect(await latest(vm)).toBeUndefined();
    await expect(send(vm, handler(2, 'removed'))).rejects.toMatchObject({
      faults: [{ path: '/handlers/0/extension', code: 'extension_unknown' }],
    });
    expect(await vm.declare('probe')).toBe(3);
    expect(await latest(vm)).toMatchObject({ handlerState: null, handlerSequence: null, heartbeat: null });
  });

  test('the last removal of a VM that is being decommissioned deletes the VM', async () => {
    const vm = await vmWithProbe();
    await removeVm(await testContext({ services, role: 'operator' }), { vmId: vm.vmId, decommission: true });
    expect(await send(vm, handler(2, 'removed'))).toMatchObject({ removed: [{ name: 'probe' }] });
    const [row] = await services.db.select().from(vms).where(eq(vms.id, vm.vmId));
    expect(row?.deletedAt).not.toBeNull();
    await expect(send(vm, {})).rejects.toMatchObject({ kind: 'unauthenticated' });
  });
});

test('listReportHistory returns raw documents to operators, newest first, page by page', async () => {
  const vm = await vmWithProbe();
  await vm.declare('other');
  await send(vm, { ...handler(1, 'installing'), ...status(1, 'transitioning') });
  await send(vm, { ...handler(1, 'enabled'), ...status(1, 'success') });
  const operator = await testContext({ services, role: 'operator' });
  const input = { vmId: vm.vmId, extension: 'probe', limit: 3 };
  const first = await listReportHistory(operator, input);
  expect(first.items.map(({ kind, document }) => [kind, document.state])).toEqual([
    ['status', undefined],
    ['handler', 'enabled'],
    ['status', undefined],
  ]);
  expect(first.items[0]?.document).toMatchObject({ file: statusFile('success') });
  const second = await listReportHistory(operator, { ...input, cursor: first.nextCursor ?? '' });
  expect(second).toMatchObject({ items: [{ kind: 'handler', document: { state: 'installing' } }], nextCursor: null });
  expect((await listReportHistory(operator, { ...input, extension: 'other' })).items).toEqual([]);
  const viewer = await testContext({ services, role: 'viewer' });
  await expect(listReportHistory(viewer, input)).rejects.toMatchObject({ kind: 'forbidden' });
});

test('a page of large documents ends at 4 MiB, and its cursor continues from there', async () => {
  const vm = await vmWithProbe();
  const text = 'x'.repeat(15_000);
  for (let round = 0; round < 8; round++) {
    const substatus = Array.from({ length: 55 }, () => ({ status: 'success', formattedMessage: text }));
    const file = statusFile('transitioning', { code: round, substatus });
    await send(vm, status(1, 'transitioning', { file }), later(round));
  }
  const operator = await testContext({ services, role: 'operator' });
  const seen: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await listReportHistory(operator, { vmId: vm.vmId, limit: 100, ...(cursor && { cursor }) });
    expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(5.5 * 1024 * 1024);
    seen.push(page.items.length);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  expect(seen).toEqual([6, 2]);
});
