import { and, eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { handlerVersions, secrets, vms } from '#db/schema/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { getExtension } from './get-extension.ts';
import { loadExtensions } from './publish.ts';
import { removeExtension } from './remove-extension.ts';
import { planRevert, revertGoalState } from './revert-goal-state.ts';

let services: Services;
let operator: Context;

beforeAll(async () => {
  services = await testServices();
  for (const version of ['1.0.0.0', '1.1.0.0']) await givenVersion(services.db, { version });
  await givenVersion(services.db, { handler: 'Acme.Lab.Disk' });
  await givenVersion(services.db, { handler: 'Acme.Lab.Old' });
  await givenVersion(services.db, { handler: 'Acme.Lab.Old', version: '2.0.0.0' });
  operator = await testContext({ services, role: 'operator' });
});

const revert = (vm: GivenVm, incarnation: number, more: { ifMatch?: number; plan?: string } = {}) =>
  revertGoalState(operator, { vmId: vm.vmId, incarnation, ...more });
const rowsOf = (vm: GivenVm) => services.db.transaction((tx) => loadExtensions(tx, vm.vmId));
const shown = async (vm: GivenVm) =>
  (await rowsOf(vm)).map(({ name, version, state, sequenceNumber }) => `${name} ${version} ${state} ${sequenceNumber}`);
const settings = (publicSettings: Record<string, unknown>, protectedSettings?: unknown) => ({
  settings: { publicSettings, ...(protectedSettings !== undefined && { protectedSettings }) },
});
const withdraw = (handler: string, version: string) =>
  services.db
    .update(handlerVersions)
    .set({ state: 'withdrawn' })
    .where(and(eq(handlerVersions.handler, handler), eq(handlerVersions.version, version)));

describe('a revert', () => {
  test('gives new numbers to extensions that differ, and keeps all other numbers', async () => {
    const vm = await givenVm(services);
    await vm.declare('disk', { handler: 'Acme.Lab.Disk' });
    await vm.declare('probe', settings({ n: 1 }));
    await vm.declare('probe', { version: '1.1.0.0', ...settings({ n: 1 }) });
    expect(await revert(vm, 3)).toEqual({ vmId: vm.vmId, incarnation: 5, revertedTo: 3 });
    expect(await shown(vm)).toEqual(['disk 1.0.0.0 enabled 1', 'probe 1.0.0.0 enabled 3']);
  });

  test('of timeouts and dependencies alone runs no handler again', async () => {
    const vm = await givenVm(services);
    await vm.declare('disk', { handler: 'Acme.Lab.Disk' });
    await vm.declare('probe');
    await vm.declare('probe', { timeouts: { enable: 9 }, dependsOn: ['disk'] });
    expect(await revert(vm, 3)).toMatchObject({ incarnation: 5 });
    expect((await rowsOf(vm))[1]).toMatchObject({ sequenceNumber: 1, dependsOn: [], timeouts: { enable: 300 } });
  });

  test('drops what was added since and never delivered, and uninstalls what was delivered', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe');
    await vm.declare('disk', { handler: 'Acme.Lab.Disk' });
    await vm.deliver();
    await vm.declare('old', { handler: 'Acme.Lab.Old' });
    await revert(vm, 2);
    expect(await shown(vm)).toEqual(['disk 1.0.0.0 uninstall 2', 'probe 1.0.0.0 enabled 1']);
  });

  test('declares a dropped extension again, with a number above its old numbers', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe', settings({ n: 1 }));
    await removeExtension(operator, { vmId: vm.vmId, name: 'probe' });
    expect(await shown(vm)).toEqual([]);
    await revert(vm, 2);
    expect(await shown(vm)).toEqual(['probe 1.0.0.0 enabled 2']);
  });

  test('omits extensions that the earlier goal state was uninstalling', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe');
    await vm.declare('disk', { handler: 'Acme.Lab.Disk' });
    await vm.deliver();
    await removeExtension(operator, { vmId: vm.vmId, name: 'disk' });
    await removeExtension(operator, { vmId: vm.vmId, name: 'disk', force: true });
    await vm.declare('probe', { state: 'disabled' });
    await revert(vm, 4);
    expect(await shown(vm)).toEqual(['probe 1.0.0.0 enabled 3']);
  });

  test.each<[string, unknown, unknown, string]>([
    ['restores secrets', { a: 1 }, { a: 2 }, 'replaced'],
    ['restores secrets that were removed', { a: 1 }, null, 'added'],
    ['removes secrets that came later', undefined, { a: 2 }, 'removed'],
    ['keeps secrets that are the same', { a: 1 }, undefined, 'kept'],
    ['knows that there were none', undefined, undefined, 'none'],
  ])('%s, and the plan says so', async (_, then, now, expected) => {
    const vm = await givenVm(services);
    await vm.declare('probe', settings({ n: 1 }, then));
    const before = (await rowsOf(vm))[0]?.secretId;
    await vm.declare('probe', settings({ n: 2 }, now));
    const plan = await planRevert(operator, { vmId: vm.vmId, incarnation: 2 });
    expect(plan.extensions[0]?.protectedSettings).toBe(expected);
    await revert(vm, 2, { plan: plan.planHash ?? '' });
    expect((await rowsOf(vm))[0]).toMatchObject({ secretId: before, publicSettings: { n: 1 } });
  });

  test('to the current contents changes nothing', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe');
    expect(await revert(vm, 2)).toEqual({ vmId: vm.vmId, incarnation: 2, revertedTo: 2 });
  });
});

describe('a revert is rejected', () => {
  test.each<[string, (vm: GivenVm) => Promise<unknown>, string]>([
    ['to a goal state that never was', (vm) => revert(vm, 99), 'not_found goal_state_unknown'],
    [
      'on a newer goal state than the one seen',
      (vm) => revert(vm, 2, { ifMatch: 2 }),
      'precondition_failed goal_state_moved_on',
    ],
    ['with an invented plan', (vm) => revert(vm, 2, { plan: 'x' }), 'precondition_failed plan_moved_on'],
    [
      'while an extension is being uninstalled',
      async (vm) => {
        await removeExtension(operator, { vmId: vm.vmId, name: 'disk' });
        await revert(vm, 2);
      },
      'conflict uninstalling',
    ],
    [
      'while the VM is being decommissioned',
      async (vm) => {
        await services.db.update(vms).set({ decommissioningAt: new Date() }).where(eq(vms.id, vm.vmId));
        await revert(vm, 2);
      },
      'conflict vm_decommissioning',
    ],
    [
      'where the name belongs to another handler now',
      async (vm) => {
        await removeExtension(operator, { vmId: vm.vmId, name: 'probe', force: true });
        await vm.declare('probe', { handler: 'Acme.Lab.Old' });
        await revert(vm, 2);
      },
      'conflict handler_fixed',
    ],
    [
      'where its secrets have no copy left',
      async (vm) => {
        await services.db.update(secrets).set({ sealed: null }).where(eq(secrets.vmId, vm.vmId));
        await revert(vm, 2);
      },
      'unprocessable secrets_required; /extensions/probe/settings/protectedSettings secrets_required',
    ],
  ])('%s, and nothing changes', async (_, act, expected) => {
    const vm = await givenVm(services);
    await vm.declare('probe', settings({ n: 1 }, { a: 1 }));
    await vm.declare('probe', settings({ n: 2 }));
    await vm.declare('disk', { handler: 'Acme.Lab.Disk' });
    await vm.deliver();
    expect(await outcomeOf(act(vm))).toBe(expected);
    const probe = (await rowsOf(vm)).find(({ name }) => name === 'probe');
    expect(probe?.publicSettings).not.toEqual({ n: 1 });
  });

  test('to a withdrawn version, unless it is in force; one response lists all faults', async () => {
    const vm = await givenVm(services);
    await vm.declare('old', { handler: 'Acme.Lab.Old', ...settings({ n: 1 }, { a: 1 }) });
    await vm.declare('old', { handler: 'Acme.Lab.Old', ...settings({ n: 2 }, { a: 2 }) });
    await withdraw('Acme.Lab.Old', '1.0.0.0');
    expect(await outcomeOf(revert(vm, 2))).toBe('done');
    await vm.declare('old', { handler: 'Acme.Lab.Old', version: '2.0.0.0', ...settings({ n: 3 }, null) });
    const fault = '/extensions/old/version version_withdrawn';
    expect(await outcomeOf(revert(vm, 2))).toBe(`unprocessable version_withdrawn; ${fault}`);
    await services.db.update(secrets).set({ sealed: null }).where(eq(secrets.vmId, vm.vmId));
    const both = `${fault}; /extensions/old/settings/protectedSettings secrets_required`;
    expect(await outcomeOf(revert(vm, 2))).toBe(`unprocessable invalid; ${both}`);
    const plan = await planRevert(operator, { vmId: vm.vmId, incarnation: 2 });
    expect(plan.faults.map(({ path, code }) => `${path} ${code}`).join('; ')).toBe(both);
    expect(plan.planHash).toBeNull();
    expect(await getExtension(operator, { vmId: vm.vmId, name: 'old' })).toMatchObject({ version: '2.0.0.0' });
  });
});
