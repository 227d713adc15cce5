import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { setExtension } from '#server/domain/goal-states/index.ts';
import { getInstanceView } from '#server/domain/views/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { givenStockVm, openWireDoor, type WireDoor } from '#server/testing/stock-agent.ts';

let ctx: Context;
let door: WireDoor;

beforeAll(async () => {
  ctx = await testContext({ services: await testServices({ config: { wire: true, vmRate: 0 } }) });
  door = await openWireDoor(ctx);
  await givenVersion(ctx.db);
});
afterAll(() => door.close());

async function givenProbe(name: string) {
  const vm = await givenStockVm(ctx, door, name);
  const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' as const };
  await setExtension(ctx, { vmId: vm.vmId, name: 'probe', goal });
  const says = async (status: object): Promise<void> => {
    const answer = await vm.report(({ aggregateStatus: { handlerAggregateStatus } }) => {
      const settingsStatus = { version: 1.0, timestampUTC: '2026-01-01T00:00:00Z', status };
      Object.assign(handlerAggregateStatus[0]?.runtimeSettingsStatus ?? {}, { settingsStatus });
    });
    expect(answer.status).toBe(200);
  };
  const probe = async () => (await getInstanceView({ ...ctx, now: new Date() }, { vmId: vm.vmId })).extensions[0];
  return { says, probe };
}

test('AZ-S1 shows an unreadable status that a stock agent passes on, with its fault', async () => {
  const { says, probe } = await givenProbe('odd');
  await says({ name: 'probe', status: 'banana', code: 0 });
  expect(await probe()).toMatchObject({
    status: null,
    refusedStatus: { faults: [{ path: '/0/status/status', code: 'field_choice' }] },
  });
  await says({ name: 'probe', status: 'Success', code: '0' });
  expect(await probe()).toMatchObject({ status: { status: 'success', code: 0 }, refusedStatus: null });
});

test('AZ-S5 a status after the success is shown and counts, and reopens nothing', async () => {
  const { says, probe } = await givenProbe('later');
  await says({ name: 'probe', status: 'success', code: 0 });
  const concluded = (await probe())?.concludedAt;
  for (const [status, health] of [
    ['error', 'failed'],
    ['warning', 'degraded'],
    ['success', 'healthy'],
  ]) {
    await says({ name: 'probe', status, code: 0 });
    expect(await probe()).toMatchObject({
      ...{ health, status: { status }, concludedAt: concluded, concludedWith: 'success', deadlineAt: null },
    });
  }
});
