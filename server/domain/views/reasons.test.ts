import { beforeAll, describe, expect, test } from 'vitest';
import { agentPresence } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { foldHealth } from '#server/domain/health/index.ts';
import { setResources } from '#server/domain/localization/index.ts';
import type { ExtensionHealth, HealthCause, VmHealth } from '#server/domain/verdicts/index.ts';
import { ProcessMemory } from '#server/platform/process-memory.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { listAttention } from './attention/index.ts';
import { exportFleet } from './export-fleet.ts';
import { readFleetRows } from './fleet-rows.ts';
import { reasonOf, type VmReason } from './reasons.ts';

const start = new Date();
const handler = 'Acme.Lab.Probe';
let services: Services;

beforeAll(async () => {
  services = await testServices();
  await givenVersion(services.db, { reportHeartbeat: false, supportsMultipleExtensions: true });
  const ctx = await testContext({ services });
  for (const [lang, text] of [
    ['en', 'Disk {0} is full'],
    ['de', 'Datenträger {0} ist voll'],
  ] as const) {
    const file = [{ version: 1.0, lang, messages: [{ id: 'disk_full', text }] }];
    await setResources(ctx, { handler, version: '1.0.0.0', lang, file });
  }
});

async function givenProbe(handlers: object[], statuses: object[]): Promise<GivenVm> {
  const vm = await givenVm(services);
  await vm.declare('probe');
  await vm.deliver(start);
  const nextExpectedAt = new Date(start.getTime() + 60_000);
  await services.db.insert(agentPresence).values({ vmId: vm.vmId, lastSeenAt: start, nextExpectedAt });
  const of = { extension: 'probe', version: '1.0.0.0', sequenceNumber: 1 };
  const read = { extension: 'probe', sequenceNumber: 1, ageSeconds: 1, readSecondsAgo: 0 };
  const report = {
    handlers: handlers.map((one) => ({ ...of, ...one })),
    statuses: statuses.map((status) => ({
      ...{ ...read, file: [{ version: 1, timestampUTC: '2026-01-01T00:00:00Z', status }] },
    })),
  };
  await ingestReport(await vm.agent(start), { vmId: vm.vmId, report, receivedAt: start });
  return vm;
}

async function reason({ vmId }: GivenVm, acceptLanguage = 'en', now = start): Promise<VmReason | null | undefined> {
  const ctx = await testContext({ services, role: 'viewer', now });
  return (await readFleetRows(ctx, { vmIds: [vmId], acceptLanguage })).items[0]?.reason;
}

const full = { message: { id: 'disk_full', params: ['sdb1'] } };
const failed = { state: 'failed', command: 'enable', exitCode: 51 };

test('Needs attention shows the message of a failed command that all VMs report, until one reports another', async () => {
  const problem = async () => {
    const ctx = await testContext({ services, role: 'viewer', now: start });
    const { items } = await listAttention({ ...ctx, memory: new ProcessMemory() }, { acceptLanguage: 'de' });
    return items.find(({ extension }) => extension?.exitCode === 77)?.extension;
  };
  const exit77 = { state: 'failed', command: 'enable', exitCode: 77 };
  await givenProbe([exit77], [{ status: 'error', ...full }]);
  await foldHealth(services, start);
  expect(await problem()).toMatchObject({ message: { text: 'Datenträger sdb1 ist voll', lang: 'de' } });
  await givenProbe([exit77], [{ status: 'error', ...full }]);
  await foldHealth(services, start);
  expect(await problem()).toMatchObject({
    ...{ cause: 'exit', command: 'enable', exitCode: 77, messageId: null },
    message: { text: 'Datenträger … ist voll', lang: 'de' },
  });
  await givenProbe([exit77], []);
  await foldHealth(services, start);
  expect(await problem()).toMatchObject({ exitCode: 77, message: null });
});

test('Needs attention does not explain a failed command with a status that has no error', async () => {
  const exit78 = { state: 'failed', command: 'enable', exitCode: 78 };
  await givenProbe([exit78], [{ status: 'success', ...full }]);
  await foldHealth(services, start);
  const ctx = await testContext({ services, role: 'viewer', now: start });
  const { items } = await listAttention({ ...ctx, memory: new ProcessMemory() }, {});
  expect(items.find(({ extension }) => extension?.exitCode === 78)?.extension).toMatchObject({ message: null });
});

describe('the reason in a list', () => {
  test('is the message of the status in the language of the reader, with its codes', async () => {
    const vm = await givenProbe([], [{ status: 'error', ...full }]);
    expect(await reason(vm, 'de-AT')).toEqual({
      ...{ extension: 'probe', handler, cause: 'status', command: null, exitCode: null, waitsFor: null },
      ...{ messageId: 'disk_full', text: 'Datenträger sdb1 ist voll', lang: 'de' },
    });
    expect(await reason(vm, 'fr')).toMatchObject({ text: 'Disk sdb1 is full', lang: 'en' });
  });

  test('is the formatted message if no resource has the id', async () => {
    const sent = { formattedMessage: { lang: 'nl', message: 'Schijf vol' }, message: { id: 'other', params: [] } };
    const vm = await givenProbe([], [{ status: 'error', ...sent }]);
    expect(await reason(vm)).toMatchObject({ text: 'Schijf vol', lang: 'nl', messageId: 'other' });
  });

  test('is the message of the failed substatus under a success', async () => {
    const substatus = [{ name: 'disk', status: 'error', ...full }];
    const vm = await givenProbe([], [{ status: 'success', message: { id: 'fine', params: [] }, substatus }]);
    expect(await reason(vm)).toMatchObject({ cause: 'substatus', messageId: 'disk_full', text: 'Disk sdb1 is full' });
  });

  test('after a failed command, is what the handler wrote for this goal, if it is an error', async () => {
    const explained = await givenProbe([failed], [{ status: 'error', ...full }]);
    expect(await reason(explained)).toMatchObject({ cause: 'exit', exitCode: 51, text: 'Disk sdb1 is full' });
    const silent = await givenProbe([failed], [{ status: 'success', ...full }]);
    expect(await reason(silent)).toMatchObject({ cause: 'exit', command: 'enable', exitCode: 51, text: null });
  });

  test('is the agent if it does not respond; a healthy VM has no reason', async () => {
    const vm = await givenProbe([], [{ status: 'error', ...full }]);
    const later = new Date(start.getTime() + 3_600_000);
    expect(await reason(vm, 'en', later)).toMatchObject({ extension: null, cause: 'silent', text: null });
    expect(await reason(await givenProbe([], [{ status: 'success', ...full }]))).toBeNull();
  });

  test('is one line: a long message is cut', async () => {
    const message = 'x'.repeat(4_000);
    const vm = await givenProbe([], [{ status: 'error', formattedMessage: { lang: 'en', message } }]);
    expect((await reason(vm))?.text?.length).toBeLessThanOrEqual(1_024);
  });

  test('takes four statements for one VM and for thirty', async () => {
    const vms: GivenVm[] = [];
    for (let n = 0; n < 30; n += 1) vms.push(await givenProbe([], [{ status: 'error', ...full }]));
    const ctx = await testContext({ services, role: 'viewer', now: start });
    const read = (many: GivenVm[]) => () => readFleetRows(ctx, { vmIds: many.map(({ vmId }) => vmId) });
    expect(await statementsOf(read(vms.slice(0, 1)))).toHaveLength(4);
    expect(await statementsOf(read(vms))).toHaveLength(4);
  });

  test('is the same in an export', async () => {
    const vm = await givenProbe([], [{ status: 'error', ...full }]);
    const ctx = await testContext({ services, role: 'viewer', now: start });
    while ((await foldHealth(services, start)) > 0);
    const found: (VmReason | null)[] = [];
    for await (const page of await exportFleet(ctx, { q: vm.vmId }, { chosenLanguage: 'de' }))
      found.push(...page.map((row) => row.reason));
    expect(found).toEqual([await reason(vm, 'de')]);
  });
});

const silent = { isSilent: false };
const extension = (name: string, health: ExtensionHealth, cause: HealthCause | null) => ({
  ...{ name, health, cause, handler, command: null, exitCode: null, waitsFor: null },
});

test.each<[string, VmHealth, ReturnType<typeof extension>[], string | null | undefined]>([
  ['the first extension with the VM’s health', 'failed', [extension('a', 'failed', 'exit')], 'a'],
  [
    'one that does not wait',
    'progressing',
    [extension('a', 'progressing', 'waiting'), extension('b', 'progressing', null)],
    'b',
  ],
  ['one that waits, if all do', 'progressing', [extension('a', 'progressing', 'waiting')], 'a'],
  ['none of a better health', 'failed', [extension('a', 'degraded', 'status')], undefined],
  ['none of a healthy VM', 'healthy', [extension('a', 'healthy', null)], undefined],
  ['none of an unknown VM', 'unknown', [extension('a', 'unknown', null)], undefined],
])('the reason is %s', (_, health, extensions, expected) => {
  expect(reasonOf({ id: 'vm', health, ...silent }, extensions)?.extension).toBe(expected);
});
