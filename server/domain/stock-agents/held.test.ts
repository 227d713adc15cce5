import { eq } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { auditEntries } from '#db/schema/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import { type Context, type Services, systemOrigin } from '#server/domain/context.ts';
import { removeExtension } from '#server/domain/goal-states/index.ts';
import { endHolds, holdVm, readHold, releaseHold } from '#server/domain/holds/index.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { deliverStockGoalState, getWireAccess, grantWireAccess, type StockGoalState, setHold } from './index.ts';

let services: Services;
let operator: Context;
let vm: GivenVm;
beforeAll(async () => {
  services = await testServices({ config: { wire: true } });
  operator = await testContext({ services, role: 'operator', now: new Date('2030-01-01T10:00:00Z') });
  await givenVersion(services.db);
  await givenVersion(services.db, { handler: 'Acme.Lab.Other' });
});
beforeEach(async () => {
  vm = await givenVm(services);
  await grantWireAccess(operator, { vmId: vm.vmId });
});

const reason = 'Patch window';
const after = (minutes: number) => new Date(operator.now.getTime() + minutes * 60_000);
const deliver = async (minutes = 0): Promise<StockGoalState> => {
  const delivered = await deliverStockGoalState(await vm.agent(after(minutes)), vm.vmId);
  if (delivered === null) throw new Error('the VM has no stock agent');
  return delivered;
};
const shown = ({ onHold, extensions }: StockGoalState) => ({ onHold, names: extensions.map(({ goal }) => goal.name) });
const holdActs = async () => {
  const rows = await readActs(services.db, eq(auditEntries.vmId, vm.vmId));
  return rows.map(({ action }) => action).filter((action) => action.startsWith('hold.'));
};

describe('the goal state of a stock agent on hold', () => {
  test('has what the agent had, under a new incarnation, until the release', async () => {
    await vm.declare('probe');
    const before = await deliver();
    await holdVm(operator, { vmId: vm.vmId, reason });
    await vm.declare('later', { handler: 'Acme.Lab.Other' });
    await removeExtension(operator, { vmId: vm.vmId, name: 'probe' });
    const held = await deliver(1);
    expect(shown(held)).toEqual({ onHold: true, names: ['probe'] });
    expect(held.extensions).toEqual(before.extensions);
    expect(held.incarnation).toBeGreaterThan(before.incarnation);
    await releaseHold(operator, { vmId: vm.vmId });
    const released = await deliver(2);
    expect(shown(released)).toEqual({ onHold: false, names: ['later', 'probe'] });
    expect(released.extensions.map(({ goal }) => goal.state)).toEqual(['enabled', 'uninstall']);
    expect(released.incarnation).toBeGreaterThan(held.incarnation);
  });

  test('is empty if the agent never got a goal state', async () => {
    await vm.declare('probe');
    await holdVm(operator, { vmId: vm.vmId, reason });
    expect(shown(await deliver())).toEqual({ onHold: true, names: [] });
  });

  test('keeps incarnation and time, whatever is declared and however often the agent asks', async () => {
    await vm.declare('probe');
    await deliver();
    await holdVm(operator, { vmId: vm.vmId, reason });
    const held = await deliver(1);
    await vm.declare('probe', { settings: { publicSettings: { a: 1 } } });
    await holdVm(operator, { vmId: vm.vmId, reason: 'Storage move' });
    const again = await deliver(2);
    expect([again.incarnation, again.movedAt]).toEqual([held.incarnation, held.movedAt]);
    expect(again.extensions).toEqual(held.extensions);
  });

  test('has a new incarnation after a release without changes, or the agent would not act on it', async () => {
    await vm.declare('probe');
    const before = await deliver();
    await holdVm(operator, { vmId: vm.vmId, reason });
    const held = await deliver(1);
    await releaseHold(operator, { vmId: vm.vmId });
    const released = await deliver(2);
    expect(released.extensions).toEqual(before.extensions);
    expect(released.incarnation).toBeGreaterThan(held.incarnation);
  });

  test('is on hold for every gateway once the hold is set, and nothing is lost', async () => {
    for (let round = 0; round < 5; round += 1) {
      await vm.declare('probe', { settings: { publicSettings: { round } } });
      const [delivered] = await Promise.all([
        deliver(2 * round),
        holdVm(operator, { vmId: vm.vmId, reason }),
        deliver(2 * round),
      ]);
      const held = await deliver(2 * round + 1);
      expect(held.onHold).toBe(true);
      if (!delivered.onHold) expect(held.extensions).toEqual(delivered.extensions);
      await releaseHold(operator, { vmId: vm.vmId });
      expect((await deliver(2 * round + 1)).extensions[0]?.goal.settings.publicSettings).toEqual({ round });
    }
  });

  test('ends when the hold expires', async () => {
    await vm.declare('probe');
    const until = after(60).toISOString();
    await holdVm(operator, { vmId: vm.vmId, reason, until });
    const { stock } = await getWireAccess(operator, { vmId: vm.vmId });
    expect(stock?.hold).toEqual({ at: operator.now.toISOString(), by: 'Test operator', reason, until });
    const portal = { ...operator, actor: systemActor, origin: systemOrigin };
    await endHolds({ ...portal, now: after(59) });
    expect((await deliver(59)).onHold).toBe(true);
    await endHolds({ ...portal, now: after(60) });
    expect(shown(await deliver(60))).toEqual({ onHold: false, names: ['probe'] });
    expect(await getWireAccess(operator, { vmId: vm.vmId })).toMatchObject({ stock: { hold: null } });
  });
});

describe('setHold', () => {
  const set = (onHold: boolean) => setHold(operator, { vmId: vm.vmId, onHold });

  test('holds without reason and end, releases, and records each once', async () => {
    const held = await set(true);
    expect(held.onHold).toBe(true);
    expect(await set(true)).toEqual(held);
    expect(await readHold(services.db, vm.vmId)).toMatchObject({ reason: null, until: null, heldBy: 'Test operator' });
    const released = await set(false);
    expect(released).toEqual({ onHold: false, incarnation: held.incarnation + 1 });
    expect(await set(false)).toEqual(released);
    expect(await holdActs()).toEqual(['hold.set', 'hold.release']);
  });

  test('keeps reason and end of a hold that a person gave them, and can release it', async () => {
    const until = after(60).toISOString();
    const { incarnation } = await holdVm(operator, { vmId: vm.vmId, reason, until });
    expect(await set(true)).toEqual({ onHold: true, incarnation });
    expect(await readHold(services.db, vm.vmId)).toMatchObject({ reason, until });
    expect(await set(false)).toMatchObject({ onHold: false });
    expect(await readHold(services.db, vm.vmId)).toBeNull();
  });

  test('two people who hold it at the same time create one hold', async () => {
    const both = await Promise.all([set(true), set(true)]);
    expect(both[0]).toEqual(both[1]);
    expect(await holdActs()).toEqual(['hold.set']);
  });

  test('rejects a VM without a stock agent, an unknown VM, and invalid input', async () => {
    const bare = await givenVm(services);
    const on = { onHold: true };
    await expect(setHold(operator, { vmId: bare.vmId, ...on })).rejects.toMatchObject({ code: 'wire_access_absent' });
    const unknown = { vmId: '00000000-0000-4000-8000-000000000000', ...on };
    await expect(setHold(operator, unknown)).rejects.toMatchObject({ code: 'vm_unknown' });
    const missing = { vmId: vm.vmId } as Parameters<typeof setHold>[1];
    await expect(setHold(operator, missing)).rejects.toMatchObject({ faults: [{ path: '/onHold' }] });
  });
});
