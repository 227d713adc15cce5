import { beforeAll, expect, test } from 'vitest';
import type { Services } from '#server/domain/context.ts';
import { issueEnrollmentToken } from '#server/domain/enrollment/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { givenAgent, openAgentDoor } from '#server/testing/agent-door.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { readFleetRows } from './fleet-rows.ts';
import { getInstanceView } from './get-instance-view.ts';

let services: Services;
const start = new Date('2026-03-01T12:00:00Z');
const probe = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', extensions: ['probe'] };

beforeAll(async () => {
  services = await testServices();
  await givenVersion(services.db);
});

async function vmWithProbe(): Promise<GivenVm> {
  const vm = await givenVm(services);
  await vm.declare('probe');
  await vm.deliver(start);
  return vm;
}

const send = async (vm: GivenVm, report: unknown) =>
  ingestReport(await vm.agent(start), { vmId: vm.vmId, report, receivedAt: start });

async function shown({ vmId }: { vmId: string }) {
  const ctx = await testContext({ services, role: 'viewer', now: start });
  const { pendingRestart } = await getInstanceView(ctx, { vmId, acceptLanguage: 'en', chosenLanguage: null });
  const row = (await readFleetRows(ctx, { vmIds: [vmId] })).items[0];
  return { pendingRestart, inList: row?.restartPendingSince };
}

test('AZ-G8 a requested restart shows who requested it and when, until the agent reports none', async () => {
  const vm = await vmWithProbe();
  expect(await shown(vm)).toEqual({ pendingRestart: null, inList: null });
  const mount = { handler: 'Acme.Lab.Mount', version: '2.0', extensions: ['a', 'b'] };
  await send(vm, {
    run: 'one',
    reportNumber: 1,
    pendingRestart: [
      { ...probe, requestedSecondsAgo: 60 },
      { ...mount, requestedSecondsAgo: 90 },
    ],
  });
  expect(await shown(vm)).toEqual({
    pendingRestart: {
      since: '2026-03-01T11:58:30.000Z',
      requests: [
        { ...mount, since: '2026-03-01T11:58:30.000Z' },
        { ...probe, since: '2026-03-01T11:59:00.000Z' },
      ],
    },
    inList: '2026-03-01T11:58:30.000Z',
  });
  // A report without the field changes nothing.
  await send(vm, {
    run: 'one',
    reportNumber: 2,
    handlers: [{ extension: 'probe', sequenceNumber: 1, state: 'installed' }],
  });
  expect((await shown(vm)).pendingRestart?.requests).toHaveLength(2);
  // A repeated report changes nothing.
  await send(vm, { run: 'one', reportNumber: 2, pendingRestart: [] });
  expect((await shown(vm)).pendingRestart?.requests).toHaveLength(2);
  await send(vm, { run: 'two', reportNumber: 1, pendingRestart: [] });
  expect(await shown(vm)).toEqual({ pendingRestart: null, inList: null });
});

test("an invalid restart request is a fault, and the report's entries are stored", async () => {
  const vm = await vmWithProbe();
  const result = await send(vm, {
    handlers: [{ extension: 'probe', sequenceNumber: 1, state: 'installed' }],
    pendingRestart: [{ handler: 'Acme.Lab.Probe' }],
  });
  expect(result.stored).toBe(1);
  expect(result.faults.map(({ path }) => path)).toContain('/pendingRestart/0/requestedSecondsAgo');
  expect((await shown(vm)).pendingRestart).toBeNull();
});

test('a pending restart of one machine is not shown for the machine enrolled after it', async () => {
  const ctx = await testContext({ services });
  const door = await openAgentDoor(services);
  const agent = await givenAgent(ctx, door, 'restart-1');
  const report = JSON.stringify({ pendingRestart: [{ ...probe, requestedSecondsAgo: 0 }] });
  const reply = await agent.call('/reports', { method: 'POST', body: report });
  expect(reply.status).toBe(204);
  const now = await testContext({ services });
  const view = () => getInstanceView(now, { vmId: agent.vmId, acceptLanguage: 'en', chosenLanguage: null });
  expect((await view()).pendingRestart?.requests).toHaveLength(1);
  const { enrollmentToken } = await issueEnrollmentToken(ctx, { vmId: agent.vmId });
  const { certificate } = newKeyPair();
  const enrollment = { enrollmentToken, certificate, agent: { name: 'test', version: '1.0' } };
  const answer = await fetch(`${door.url}/enroll`, { method: 'POST', body: JSON.stringify(enrollment) });
  expect(answer.status).toBe(201);
  expect((await view()).pendingRestart).toBeNull();
  await removeVm(ctx, { vmId: agent.vmId, decommission: false });
  await door.close();
});
