import { and, eq, like } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { auditEntries, stockAgents } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { setExtension } from '#server/domain/goal-states/index.ts';
import { grantWireAccess } from '#server/domain/stock-agents/index.ts';
import { getInstanceView } from '#server/domain/views/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { longTest } from '#server/testing/long.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { givenStockVm, openWireDoor, StockVm, transportHeader, type WireDoor } from '#server/testing/stock-agent.ts';

let ctx: Context;
let door: WireDoor;
let now = Date.parse('2026-01-01T00:00:00Z');

beforeAll(async () => {
  ctx = await testContext({ role: 'operator', services: await testServices({ config: { wire: true, vmRate: 0 } }) });
  door = await openWireDoor(ctx, () => new Date(now));
  await givenVersion(ctx.db);
});
afterAll(() => door.close());

const duplicateOf = async ({ vmId }: StockVm) => (await getInstanceView(ctx, { vmId })).agent.duplicateSeenAt;
const actsOf = ({ vmId }: StockVm) =>
  ctx.db
    .select({ action: auditEntries.action })
    .from(auditEntries)
    .where(and(eq(auditEntries.vmId, vmId), like(auditEntries.action, '%duplicate')));
const turnsOf = async ({ vmId }: StockVm) => {
  const [row] = await ctx.db.select().from(stockAgents).where(eq(stockAgents.vmId, vmId));
  return row?.sightings ?? [];
};
const poll = async (vm: StockVm, forwarder: string) => {
  now += 12_000;
  const headers = { 'x-guest-forwarder': forwarder };
  expect((await vm.call('wire', '/machine/?comp=goalstate', { headers })).status).toBe(200);
  await vi.waitFor(async () => expect((await turnsOf(vm)).at(-1)?.mark).toBe(forwarder));
};

test('duplicate_agent: two machines with one forwarder token are shown until there is a new token', async () => {
  const vm = await givenStockVm(ctx, door, 'cloned');
  for (const forwarder of ['forwarder-1', 'forwarder-2', 'forwarder-1']) await poll(vm, forwarder);
  expect(await duplicateOf(vm)).toBeNull();
  await poll(vm, 'forwarder-2');
  await vi.waitFor(async () => expect(await duplicateOf(vm)).not.toBeNull());
  expect(await actsOf(vm)).toEqual([{ action: 'wire-access.duplicate' }]);
  await grantWireAccess(ctx, { vmId: vm.vmId });
  expect(await duplicateOf(vm)).toBeNull();
});

test('a restarted forwarder does not count as a second machine, and an unchanged forwarder runs no statement', async () => {
  const vm = await givenStockVm(ctx, door, 'restarted');
  for (const forwarder of ['forwarder-1', 'forwarder-2', 'forwarder-3', 'forwarder-4']) await poll(vm, forwarder);
  await door.presence.flush();
  const headers = { 'x-guest-forwarder': 'forwarder-4' };
  expect(await statementsOf(() => vm.call('wire', '/machine/?comp=goalstate', { headers }))).toEqual([]);
  expect(await duplicateOf(vm)).toBeNull();
});

longTest('duplicate_agent: alternating transport certificates are two machines, also at two gateways', async () => {
  const vm = await givenStockVm(ctx, door, 'certificates');
  const other = await openWireDoor(ctx, () => new Date(now));
  const [first = '', second = '', third = ''] = [0, 1, 2].map(() => newKeyPair('RSA 2048').certificate);
  // An agent requests the tenant key after each new goal state, with the certificate that it created when it started.
  const ask = async (at: WireDoor, certificate: string, incarnation: number) => {
    now += 12_000;
    const caller = new StockVm(at.url, vm.vmId, vm.token);
    const wanted = await vi.waitFor(async () => {
      const found = await new StockVm(at.url, vm.vmId, vm.token).poll();
      expect(found.incarnation).toBe(String(incarnation));
      return found;
    });
    const before = await turnsOf(vm);
    const path = `/machine/${wanted.containerId}/certificates?incarnation=${incarnation}`;
    expect((await caller.call('wire', path, { headers: transportHeader(certificate) })).status).toBe(200);
    await vi.waitFor(async () => expect(await turnsOf(vm)).not.toEqual(before));
  };
  const declare = async (word: string) => {
    const settings = { publicSettings: { word }, protectedSettings: 'secret' };
    const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' as const, settings };
    return (await setExtension(ctx, { vmId: vm.vmId, name: 'probe', goal })).incarnation;
  };
  const one = await declare('one');
  await ask(door, first, one);
  await ask(door, second, one);
  await ask(other, third, one);
  const two = await declare('two');
  await ask(door, second, two);
  expect(await duplicateOf(vm)).toBeNull();
  await ask(other, third, two);
  await vi.waitFor(async () => expect(await duplicateOf(vm)).not.toBeNull());
  await other.close();
});
