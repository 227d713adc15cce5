import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { setExtension } from '#server/domain/goal-states/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { longTest } from '#server/testing/long.ts';
import { givenStockVm, openWireDoor, StockVm, type WireDoor } from '#server/testing/stock-agent.ts';

let ctx: Context;
let door: WireDoor;

beforeAll(async () => {
  ctx = await testContext({ role: 'operator', services: await testServices({ config: { wire: true, vmRate: 0 } }) });
  door = await openWireDoor(ctx);
  await givenVersion(ctx.db, { reportHeartbeat: false });
});
afterAll(() => door.close());

const set = (vm: StockVm, name: string) =>
  setExtension(ctx, {
    vmId: vm.vmId,
    name,
    goal: { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' },
  });

describe('two gateways', () => {
  test('accept an unchanged status, whichever gateway receives it', async () => {
    const vm = await givenStockVm(ctx, door, 'both');
    await set(vm, 'probe');
    await vm.poll();
    const there = await openWireDoor(ctx);
    const elsewhere = new StockVm(there.url, vm.vmId, vm.token);
    await elsewhere.poll();
    await vm.report();
    await elsewhere.report();
    const { rows } = await ctx.db.$client.query(
      `select kind, document -> 'file' -> 0 ->> 'timestampUTC' as at from report_history where vm_id = $1 and kind = 'status'`,
      [vm.vmId],
    );
    expect(rows).toHaveLength(1);
    await there.close();
  });
});

describe('while the database is unavailable', () => {
  test('a cached agent gets its goal state and is accepted; another agent retries soon', async () => {
    const [vm, unknown] = [await givenStockVm(ctx, door, 'away'), await givenStockVm(ctx, door, 'not-met')];
    await set(vm, 'probe');
    const before = await vm.poll();
    await vm.report();
    const agents = await openWireDoor(ctx);
    const here = new StockVm(agents.url, vm.vmId, vm.token);
    await here.poll();
    const gone = () => Promise.reject(new Error('the database is away'));
    const spies = (['query', 'connect'] as const).map((name) =>
      vi.spyOn(ctx.db.$client, name).mockImplementation(gone),
    );
    try {
      const statuses = async (path: string) => [
        (await here.call('wire', path)).status,
        (await new StockVm(agents.url, unknown.vmId, unknown.token).call('wire', path)).status,
      ];
      expect(await statuses('/machine/?comp=goalstate')).toEqual([200, 424]);
      expect((await here.poll()).incarnation).toBe(before.incarnation);
      expect((await here.report()).status).toBe(200);
    } finally {
      for (const spy of spies) spy.mockRestore();
      await agents.close();
    }
    await unknown.poll();
  });
});

longTest('while the database stalls, a cached agent gets its goal state', async () => {
  const vm = await givenStockVm(ctx, door, 'stalled');
  await set(vm, 'probe');
  const { incarnation } = await vm.poll();
  const stalls = Promise.withResolvers<void>();
  const { $client } = ctx.db;
  const spies = (['query', 'connect'] as const).map((name) => {
    const original = $client[name].bind($client) as (...args: unknown[]) => Promise<never>;
    const later = (...args: unknown[]) => stalls.promise.then(() => original(...args));
    return vi.spyOn($client, name).mockImplementation(later as never);
  });
  try {
    // Marks the VM's goal state as stale, as a wake-up would.
    door.agents.forget(vm.vmId);
    const began = performance.now();
    expect((await vm.poll()).incarnation).toBe(incarnation);
    expect(performance.now() - began).toBeLessThan(8_000);
  } finally {
    stalls.resolve();
    for (const spy of spies) spy.mockRestore();
  }
  expect((await vm.report()).status).toBe(200);
});
