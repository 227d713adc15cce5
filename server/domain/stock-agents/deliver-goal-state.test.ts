import { and, eq } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changes } from '#db/schema/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { removeExtension } from '#server/domain/goal-states/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import {
  deliverStockGoalState,
  getWireAccess,
  grantWireAccess,
  listShownStatuses,
  noteStockAgent,
  type StockGoalState,
} from './index.ts';

let services: Services;
let operator: Context;
let vm: GivenVm;
beforeAll(async () => {
  services = await testServices({ config: { wire: true } });
  operator = await testContext({ services, role: 'operator' });
  await givenVersion(services.db, { reportHeartbeat: false });
  await givenVersion(services.db, { handler: 'Acme.Lab.Many', supportsMultipleExtensions: true });
  await givenVersion(services.db, { handler: 'Acme.Lab.Many', version: '1.1', supportsMultipleExtensions: true });
});
beforeEach(async () => {
  vm = await givenVm(services);
  await grantWireAccess(operator, { vmId: vm.vmId });
});

const start = new Date('2030-01-01T10:00:00Z');
const deliver = async (minutes = 0): Promise<StockGoalState> => {
  const now = new Date(start.getTime() + minutes * 60_000);
  const delivered = await deliverStockGoalState(await vm.agent(now), vm.vmId);
  if (delivered === null) throw new Error('the VM has no stock agent');
  return delivered;
};
const changesOf = () => services.db.$count(changes, and(eq(changes.topic, 'vm'), eq(changes.key, vm.vmId)));

describe('the goal state for a stock agent', () => {
  test('has the extensions with what the agent needs to know about them', async () => {
    await vm.declare('probe');
    await vm.declare('many-1', { handler: 'Acme.Lab.Many', version: '1.1', dependsOn: ['probe'] });
    const { extensions } = await deliver();
    const facts = extensions.map(({ goal, version, wireName, level, reportsHeartbeat }) => ({
      ...{ name: goal.name, version, wireName, level, reportsHeartbeat },
    }));
    expect(facts).toEqual([
      {
        ...{ name: 'many-1', version: '1.1', wireName: expect.stringMatching(/^many_1_[0-9a-f]{8}$/) },
        ...{ level: 1, reportsHeartbeat: true },
      },
      { name: 'probe', version: '1.0.0.0', wireName: null, level: 0, reportsHeartbeat: false },
    ]);
  });

  test('is null for a VM without a stock agent', async () => {
    const bare = await givenVm(services);
    expect(await deliverStockGoalState(await bare.agent(), bare.vmId)).toBeNull();
  });

  test('keeps its incarnation and time until there is something to act on', async () => {
    await vm.declare('probe');
    const first = await deliver();
    expect(await deliver(1)).toEqual(first);
    await vm.declare('probe', { timeouts: { enable: 30 } });
    const same = await deliver(2);
    expect([same.incarnation, same.movedAt]).toEqual([first.incarnation, first.movedAt]);
    expect(same.etag).not.toBe(first.etag);
    await vm.declare('probe', { settings: { publicSettings: { a: 1 } } });
    const next = await deliver(3);
    expect(next.incarnation).toBeGreaterThan(first.incarnation);
    expect(next.movedAt.getTime()).toBeGreaterThan(first.movedAt.getTime());
  });

  test('has a new incarnation for an uninstall, and none when the uninstalled extension leaves', async () => {
    await vm.declare('probe');
    const first = await deliver();
    await removeExtension(operator, { vmId: vm.vmId, name: 'probe' });
    const second = await deliver(1);
    expect(second.incarnation).toBeGreaterThan(first.incarnation);
    expect(second.extensions.map(({ goal }) => goal.state)).toEqual(['uninstall']);
  });

  test('is announced to pages when the agent gets it, and not when it asks again', async () => {
    await vm.declare('probe');
    const before = await changesOf();
    await deliver();
    const after = await changesOf();
    expect(after).toBeGreaterThan(before);
    await deliver(1);
    expect(await changesOf()).toBe(after);
  });

  test('is the same for several gateways that ask at the same time', async () => {
    await vm.declare('probe');
    const all = await Promise.all([0, 0, 0, 0, 0].map((minutes) => deliver(minutes)));
    expect(new Set(all.map(({ incarnation }) => incarnation)).size).toBe(1);
    await vm.declare('probe', { state: 'disabled' });
    const next = await Promise.all([1, 1, 1].map((minutes) => deliver(minutes)));
    expect(new Set(next.map(({ incarnation }) => incarnation)).size).toBe(1);
    expect(next[0]?.incarnation).toBeGreaterThan(all[0]?.incarnation ?? 0);
  });
});

describe('what a stock agent reports about itself', () => {
  const os = { name: 'Debian', version: '13', arch: 'x64' };

  test('is stored, shown, and known again after a restart of the gateway', async () => {
    await vm.declare('probe');
    const { incarnation } = await deliver();
    const settled = { incarnation, status: 'Success', message: 'GoalState executed successfully' };
    const agent = await vm.agent(start);
    await noteStockAgent(agent, vm.vmId, { version: '2.14.0.1', os, settled });
    const { stock } = await getWireAccess(operator, { vmId: vm.vmId });
    expect(stock).toMatchObject({
      version: '2.14.0.1',
      settled: { incarnation, status: 'Success', message: settled.message, at: start.toISOString() },
    });
    expect((await deliver(1)).heard).toEqual({ version: '2.14.0.1', os, settled });
  });

  test('keeps the last completed goal state while a new goal state is in progress', async () => {
    await vm.declare('probe');
    const { incarnation } = await deliver();
    const agent = await vm.agent(start);
    const settled = { incarnation, status: 'Success', message: null };
    await noteStockAgent(agent, vm.vmId, { version: '2.14', os, settled });
    await noteStockAgent(agent, vm.vmId, { version: '2.15', os, settled: null });
    expect((await deliver(1)).heard).toEqual({ version: '2.15', os, settled });
  });
});

test('the shown statuses of a VM are those that its extensions reported', async () => {
  await vm.declare('probe');
  await vm.deliver();
  expect(await listShownStatuses(operator, vm.vmId)).toEqual([]);
  const status = { status: 'success', formattedMessage: { lang: 'en', message: 'Ready.' } };
  const file = [{ version: 1, timestampUTC: '2030-01-01T00:00:00Z', status }];
  const report = { statuses: [{ extension: 'probe', sequenceNumber: 1, ageSeconds: 0, readSecondsAgo: 0, file }] };
  await ingestReport(await vm.agent(), { vmId: vm.vmId, report, receivedAt: new Date() });
  expect(await listShownStatuses(operator, vm.vmId)).toMatchObject([
    { extension: 'probe', document: { status: 'success', formattedMessage: { message: 'Ready.' } } },
  ]);
});
