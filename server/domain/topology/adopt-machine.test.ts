import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { agents, auditEntries, extensions, vms } from '#db/schema/index.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { adoptMachine, destroyModel, listInstances, removeMachine } from './index.ts';
import { newStage, type Stage, type Staged } from './testing/stage.ts';

let stage: Stage;
let plain: Staged;

beforeAll(async () => {
  stage = await newStage();
  await givenVersion(stage.ctx.db);
  plain = await stage.bootstrapped();
});

/** A VM with an extension and an agent. */
async function enrolledVm(kind: 'reference' | 'stock' = 'reference') {
  const vm = await givenVm(stage.ctx, 'mine');
  await vm.declare('probe');
  await vm.deliver();
  await stage.ctx.db.insert(agents).values({
    ...{ vmId: vm.vmId, credentialHash: vm.vmId, certificate: '', thumbprint: '', keyHash: vm.vmId, kind },
    ...{ name: 'test', version: '1', os: {} as never, enrolledAt: stage.ctx.now },
  });
  return vm;
}

const adopt = (vmId: string, { model, provider } = plain, address?: string) =>
  adoptMachine(stage.ctx, { model, vmId, ...(address !== undefined && { address }) }, provider);
const vmOf = async (id: string) => (await stage.ctx.db.select().from(vms).where(eq(vms.id, id)))[0];
const addressOf = async (id: string) =>
  (await stage.ctx.db.select().from(agents).where(eq(agents.vmId, id)))[0]?.internalAddress;
const extensionsOf = (id: string) => stage.ctx.db.select().from(extensions).where(eq(extensions.vmId, id));

describe('JU-37 an enrolled VM', () => {
  test('becomes a machine and is given back, with its name, agent and extensions untouched', async () => {
    const vm = await enrolledVm();
    const before = await extensionsOf(vm.vmId);
    const machine = await adopt(vm.vmId, plain, '10.1.2.3');
    expect(machine).toMatchObject({ vm: vm.name, vmId: vm.vmId, machine: expect.any(Number) });
    expect(await vmOf(vm.vmId)).toMatchObject({ name: vm.name, instanceId: machine.instanceId });
    expect(await addressOf(vm.vmId)).toBe('10.1.2.3');
    const { instances } = await listInstances(stage.ctx, { model: plain.model, ids: [machine.instanceId] });
    expect(instances).toMatchObject([{ vm: vm.name, state: 'ready' }]);

    await removeMachine(stage.ctx, { model: plain.model, machine: machine.machine });
    await stage.mend(plain.provider);
    expect(await vmOf(vm.vmId)).toMatchObject({
      ...{ name: vm.name, instanceId: null, deletedAt: null, decommissioningAt: null },
    });
    expect(await addressOf(vm.vmId)).toBeNull();
    expect(await extensionsOf(vm.vmId)).toEqual(before);
    expect(plain.provider.services.has(machine.cloudService)).toBe(false);
    const acts = await readActs(stage.ctx.db, eq(auditEntries.vmId, vm.vmId));
    expect(acts.map(({ action }) => action)).toEqual(expect.arrayContaining(['machine.adopt', 'machine.give-back']));
    expect((await adopt(vm.vmId)).machine).toBeGreaterThan(machine.machine);
  });

  test('is given back when its model is destroyed', async () => {
    const staged = await stage.bootstrapped();
    const vm = await enrolledVm();
    await adopt(vm.vmId, staged);
    await destroyModel(stage.ctx, { model: staged.model, confirm: staged.model });
    for (let round = 0; round < 4; round += 1) await stage.mend(staged.provider);
    expect(await vmOf(vm.vmId)).toMatchObject({ instanceId: null, deletedAt: null });
    expect(await extensionsOf(vm.vmId)).toHaveLength(1);
  });

  test('stays as it was if the provider fails', async () => {
    const staged = await stage.bootstrapped();
    const vm = await enrolledVm();
    staged.provider.fate = (step) => (step === 'endpoints' ? 'failAfter' : 'succeed');
    await expect(adopt(vm.vmId, staged)).rejects.toMatchObject({ code: 'provider_failed' });
    expect(await vmOf(vm.vmId)).toMatchObject({ instanceId: null, deletedAt: null });
    expect(staged.provider.services.size).toBe(0);
  });

  test('stays as it was if the process dies meanwhile', async () => {
    const staged = await stage.bootstrapped();
    const vm = await enrolledVm();
    const died = new Promise<void>((resolve) => {
      staged.provider.onDeath = resolve;
    });
    staged.provider.fate = (step) => (step === 'deployment' ? 'dieAfter' : 'succeed');
    void adopt(vm.vmId, staged);
    await died;
    staged.provider.fate = () => 'succeed';
    await stage.mend(staged.provider, 120);
    await stage.mend(staged.provider, 120);
    expect(await vmOf(vm.vmId)).toMatchObject({ instanceId: null, deletedAt: null });
    expect(staged.provider.services.size).toBe(0);
  });
});

describe('a VM is not adopted', () => {
  test('with availability sets, twice, without an agent, with a stock agent, or by viewers', async () => {
    const sets = await stage.bootstrapped({ availabilitySetsEnabled: true });
    const vm = await enrolledVm();
    await expect(adopt(vm.vmId, sets)).rejects.toMatchObject({ code: 'machine_placement_unsupported' });
    await adopt(vm.vmId);
    await expect(adopt(vm.vmId)).rejects.toMatchObject({ code: 'vm_in_model', params: { model: plain.model } });
    await expect(adopt((await givenVm(stage.ctx)).vmId)).rejects.toMatchObject({ code: 'vm_not_enrolled' });
    await expect(adopt((await enrolledVm('stock')).vmId)).rejects.toMatchObject({ code: 'vm_has_stock_agent' });
    await expect(adopt(crypto.randomUUID())).rejects.toMatchObject({ code: 'vm_unknown' });
    const viewer = await testContext({ services: stage.ctx, role: 'viewer' });
    const other = await enrolledVm();
    const denied = adoptMachine(viewer, { model: plain.model, vmId: other.vmId });
    await expect(denied).rejects.toMatchObject({ kind: 'forbidden' });
  });

  test.each(['192.168.0.1', '127.80.0.1', 'here'])('with the address %s', async (address) => {
    const vm = await enrolledVm();
    await expect(adopt(vm.vmId, plain, address)).rejects.toMatchObject({ kind: 'unprocessable' });
    expect(await vmOf(vm.vmId)).toMatchObject({ instanceId: null });
  });
});
