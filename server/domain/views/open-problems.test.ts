import { beforeAll, expect, test } from 'vitest';
import type { Services } from '#server/domain/context.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import { getInstanceView } from './get-instance-view.ts';

let services: Services;
const start = new Date();
const later = (seconds: number) => new Date(start.getTime() + seconds * 1000);

beforeAll(async () => {
  services = await testServices();
  await givenVersion(services.db, { supportsMultipleExtensions: true });
});

test('a file that the agent cannot read is a problem, shown to operators, until it can be read', async () => {
  const vm = await givenVm(services);
  await vm.declare('probe');
  await vm.deliver(start);
  const send = async (report: object, at: Date) =>
    ingestReport(await vm.agent(at), { vmId: vm.vmId, report, receivedAt: at });
  const problems = async (now: Date, role: 'viewer' | 'operator' = 'operator') => {
    const { agent } = await getInstanceView(await testContext({ services, role, now }), { vmId: vm.vmId });
    return agent.problems?.map(({ about, message }) => [about, message]);
  };
  const half = { about: 'probe', message: 'probe: its status file cannot be read: only half of it is there.' };
  expect(await problems(later(1))).toEqual([]);
  await send({ problems: [half, { about: 'goal-state', message: 'no' }, { about: 'gone', message: 'x' }] }, later(5));
  await send({ problems: [{ about: 'goal-state', message: 'The goal state cannot be read.' }] }, later(10));
  expect(await problems(later(11))).toEqual([
    ['goal-state', 'The goal state cannot be read.'],
    ['probe', half.message],
  ]);
  expect(await problems(later(11), 'viewer')).toBeUndefined();

  const ages = { extension: 'probe', ageSeconds: 0, readSecondsAgo: 0 };
  const heartbeats = [{ ...ages, file: [{ version: 1, heartbeat: { status: 'ready' } }] }];
  await send({ heartbeats }, later(20));
  expect(await problems(later(21))).toHaveLength(2);
  const file = [{ version: 1, timestampUTC: '2026-01-01T00:00:00Z', status: { status: 'success' } }];
  await send({ statuses: [{ ...ages, sequenceNumber: 1, file }] }, later(30));
  expect(await problems(later(31))).toEqual([['goal-state', 'The goal state cannot be read.']]);
  await vm.declare('other');
  await vm.deliver(later(40));
  expect(await problems(later(41))).toEqual([]);
});

test('AZ-S5 an unreadable status file after the conclusion is a problem until it can be read', async () => {
  const vm = await givenVm(services);
  await vm.declare('probe');
  await vm.deliver(start);
  const send = async (report: object, at: Date) =>
    ingestReport(await vm.agent(at), { vmId: vm.vmId, report, receivedAt: at });
  const view = async (now: Date) =>
    (await getInstanceView(await testContext({ services, role: 'operator', now }), { vmId: vm.vmId })).agent.problems;
  const ages = { extension: 'probe', ageSeconds: 0, readSecondsAgo: 0 };
  const file = [{ version: 1, timestampUTC: '2026-01-01T00:00:00Z', status: { status: 'success' } }];
  const heartbeats = [{ ...ages, file: [{ version: 1, heartbeat: { status: 'ready' } }] }];
  await send({ heartbeats, statuses: [{ ...ages, sequenceNumber: 1, file }] }, later(1));
  await send({ problems: [{ about: 'probe', message: 'only half of it', file: 'status' }] }, later(5));
  await send({ heartbeats }, later(6));
  expect(await view(later(7))).toHaveLength(1);
  await send({ statuses: [{ ...ages, sequenceNumber: 1, file }] }, later(8));
  expect(await view(later(9))).toEqual([]);
});

test('AZ-G8 a failed restart command is shown until the next goal state while a restart is pending', async () => {
  const vm = await givenVm(services);
  await vm.declare('probe');
  await vm.deliver(start);
  const send = async (report: object, at: Date) =>
    ingestReport(await vm.agent(at), { vmId: vm.vmId, report, receivedAt: at });
  const messages = async (now: Date) => {
    const ctx = await testContext({ services, role: 'operator', now });
    return (await getInstanceView(ctx, { vmId: vm.vmId })).agent.problems?.map(({ message }) => message);
  };
  const request = { handler: 'Contoso.Compute.Hello', version: '1.0.0.0', extensions: ['probe'] };
  const pendingRestart = [{ ...request, requestedSecondsAgo: 0 }];
  const failure = { about: 'restart', message: 'The restart command ended with 1.' };
  await send({ pendingRestart, problems: [failure] }, later(1));
  expect(await messages(later(2))).toEqual([failure.message]);
  await vm.declare('other');
  await vm.deliver(later(5));
  expect(await messages(later(6))).toEqual([]);
  await send({ problems: [failure] }, later(7));
  expect(await messages(later(8))).toEqual([failure.message]);
  await send({ pendingRestart: [] }, later(9));
  expect(await messages(later(10))).toEqual([]);
});

test('the last problem of each subject is kept for a day, and an invalid problem is rejected', async () => {
  const vm = await givenVm(services);
  await vm.deliver(start);
  const send = async (problems: unknown, at: Date) =>
    ingestReport(await vm.agent(at), { vmId: vm.vmId, report: { problems }, receivedAt: at });
  const many = Array.from({ length: 30 }, (_, n) => ({ about: 'goal-state', message: `${n}` }));
  await send(many, later(5));
  const view = async (now: Date) =>
    (await getInstanceView(await testContext({ services, role: 'operator', now }), { vmId: vm.vmId })).agent.problems;
  expect(await view(later(6))).toMatchObject([{ message: '29' }]);
  expect(await view(later(86_500))).toEqual([]);
  await expect(send([{ about: 'probe' }], later(10))).rejects.toMatchObject({ code: 'report_invalid' });
});
