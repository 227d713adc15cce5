import { randomUUID } from 'node:crypto';
import { and, asc, eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { agentProblems, extensionLatest, extensionPulse, pendingRestarts } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { testServices } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { clearPendingRestart, dropReportedState, notePendingRestart, noteProblems, storeLatest } from './index.ts';

let services: Services;

beforeAll(async () => {
  services = await testServices();
  await givenVersion(services.db);
});

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000);

describe('problems that an agent reports', () => {
  const note = (
    vmId: string,
    problems: { about: string; message: string; file?: 'status' | 'heartbeat' }[],
    time = 0,
  ) => services.db.transaction((tx) => noteProblems(tx, vmId, problems, at(time)));
  const noted = (vmId: string) =>
    services.db.select().from(agentProblems).where(eq(agentProblems.vmId, vmId)).orderBy(asc(agentProblems.about));

  test('the last message about each subject is stored, with its file and time', async () => {
    const { vmId } = await givenVm(services);
    await note(vmId, [
      { about: 'probe', message: 'first', file: 'status' },
      { about: 'probe', message: 'second' },
    ]);
    expect(await noted(vmId)).toEqual([{ vmId, about: 'probe', message: 'second', file: null, at: at(0) }]);
    await note(vmId, [{ about: 'probe', message: 'third', file: 'heartbeat' }], 5);
    expect(await noted(vmId)).toEqual([{ vmId, about: 'probe', message: 'third', file: 'heartbeat', at: at(5) }]);
  });

  test('of more than 20 problems, the newest are kept', async () => {
    const { vmId } = await givenVm(services);
    const problem = (number: number) => ({ about: `thing-${String(number).padStart(2, '0')}`, message: 'x' });
    for (let number = 0; number < 20; number += 1) await note(vmId, [problem(number)], number);
    await note(vmId, [problem(0)], 30);
    await note(vmId, [problem(20), problem(21)], 31);
    const left = (await noted(vmId)).map(({ about }) => Number(about.slice(6)));
    expect(left).toEqual([0, ...Array.from({ length: 19 }, (_, index) => index + 3)]);
  });

  test('a report with more than 20 problems stores 20 of them', async () => {
    const { vmId } = await givenVm(services);
    await note(
      vmId,
      Array.from({ length: 25 }, (_, number) => ({ about: `thing-${number}`, message: 'x' })),
    );
    expect(await noted(vmId)).toHaveLength(20);
  });

  test('a report without problems changes nothing', async () => {
    const { vmId } = await givenVm(services);
    await note(vmId, [{ about: 'probe', message: 'x' }]);
    await note(vmId, [], 5);
    expect(await noted(vmId)).toMatchObject([{ at: at(0) }]);
  });
});

describe('requests to restart the machine', () => {
  const request = (version: string, requestedSecondsAgo: number) => ({
    handler: 'Acme.Lab.Probe',
    version,
    extensions: ['probe'],
    requestedSecondsAgo,
  });
  const note = (vmId: string, requests: ReturnType<typeof request>[]) =>
    services.db.transaction((tx) => notePendingRestart(tx, vmId, requests, at(0)));
  const pending = async (vmId: string) =>
    (await services.db.select().from(pendingRestarts).where(eq(pendingRestarts.vmId, vmId)))[0] ?? null;

  test("AZ-G8 requests are stored oldest first, by the portal's clock", async () => {
    const { vmId } = await givenVm(services);
    await note(vmId, [request('2.0.0.0', 10), request('1.0.0.0', 90)]);
    expect(await pending(vmId)).toEqual({
      vmId,
      since: at(-90),
      requests: [
        { handler: 'Acme.Lab.Probe', version: '1.0.0.0', extensions: ['probe'], since: at(-90).toISOString() },
        { handler: 'Acme.Lab.Probe', version: '2.0.0.0', extensions: ['probe'], since: at(-10).toISOString() },
      ],
    });
  });

  test('AZ-G8 each report replaces the requests, and a report without any removes them', async () => {
    const { vmId } = await givenVm(services);
    await note(vmId, [request('1.0.0.0', 90), request('2.0.0.0', 10)]);
    await note(vmId, [request('2.0.0.0', 20)]);
    expect(await pending(vmId)).toMatchObject({ since: at(-20), requests: [{ version: '2.0.0.0' }] });
    await note(vmId, []);
    expect(await pending(vmId)).toBeNull();
    await note(vmId, []);
    expect(await pending(vmId)).toBeNull();
  });

  test('a replaced machine has requested nothing', async () => {
    const { vmId } = await givenVm(services);
    const other = await givenVm(services);
    await note(vmId, [request('1.0.0.0', 0)]);
    await note(other.vmId, [request('1.0.0.0', 0)]);
    await services.db.transaction((tx) => clearPendingRestart(tx, vmId));
    expect(await pending(vmId)).toBeNull();
    expect(await pending(other.vmId)).not.toBeNull();
  });

  test('requests and problems are deleted with the VM', async () => {
    const { vmId } = await givenVm(services);
    await note(vmId, [request('1.0.0.0', 0)]);
    await services.db.transaction((tx) => noteProblems(tx, vmId, [{ about: 'probe', message: 'x' }], at(0)));
    await services.db.transaction((tx) => dropReportedState(tx, vmId));
    expect(await pending(vmId)).toBeNull();
    expect(await services.db.$count(agentProblems, eq(agentProblems.vmId, vmId))).toBe(0);
  });
});

describe('the rows of an extension', () => {
  const latest = async (vmId: string, name: string) =>
    (
      await services.db
        .select()
        .from(extensionLatest)
        .where(and(eq(extensionLatest.vmId, vmId), eq(extensionLatest.name, name)))
    )[0] ?? null;

  test('exist as soon as the extension is declared, without a report', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe');
    expect(await latest(vm.vmId, 'probe')).toMatchObject({ status: null, heartbeat: null });
    expect(await services.db.$count(extensionPulse, eq(extensionPulse.vmId, vm.vmId))).toBe(1);
  });

  test('keep what a report does not mention', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe');
    const store = (values: Parameters<typeof storeLatest>[3]) =>
      services.db.transaction((tx) => storeLatest(tx, vm.vmId, 'probe', values));
    await store({ handlerAt: at(0) });
    await store({});
    expect(await latest(vm.vmId, 'probe')).toMatchObject({ handlerAt: at(0) });
    await store({ handlerAt: null });
    expect(await latest(vm.vmId, 'probe')).toMatchObject({ handlerAt: null });
    expect(await latest(vm.vmId, randomUUID())).toBeNull();
  });
});
