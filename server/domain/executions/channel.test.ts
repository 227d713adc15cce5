import { desc } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditEntries, executionChannels } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import {
  bindChannel,
  cancelExecution,
  cancelWaiting,
  getChannel,
  publishNext,
  queueExecution,
  readChannel,
  unbindChannel,
} from './index.ts';
import { givenBoundVm, smallPlan } from './testing/bound-vm.ts';
import { givenMachine } from './testing/machine.ts';

let admin: Context;
let door: AgentDoor;
beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
  return () => door.close();
});

const unknown = '00000000-0000-7000-8000-000000000000';

describe('the channel of a VM', () => {
  test('MU-18 is HTTPS until an admin binds the VM to AMQP, and after it is unbound', async () => {
    const { id: vmId } = await registerVm(admin, { name: 'unbound' });
    await expect(getChannel(admin, { vmId })).rejects.toMatchObject({ code: 'channel_unbound' });
    await expect(unbindChannel(admin, { vmId })).rejects.toMatchObject({ code: 'channel_unbound' });
    const bound = await bindChannel(admin, { vmId });
    expect(bound).toMatchObject({ inputQueue: `annex-${vmId}`, dialect: 'annex', boundBy: admin.actor.name });
    expect(await getChannel(admin, { vmId })).toEqual(bound);
    expect(await readChannel(admin, { vmId })).toEqual(bound);
    await unbindChannel(admin, { vmId });
    expect(await readChannel(admin, { vmId })).toBeNull();
    await expect(getChannel(admin, { vmId })).rejects.toMatchObject({ code: 'channel_unbound' });
    const actions = await admin.db.select().from(auditEntries).orderBy(desc(auditEntries.position)).limit(2);
    expect(actions.map(({ action }) => action)).toEqual(['execution-channel.unbind', 'execution-channel.bind']);
  });

  test('has the queue that the admin names, which no other VM can have', async () => {
    const [first, second] = [await givenBoundVm(admin), await givenBoundVm(admin)];
    await bindChannel(admin, { vmId: first.vmId, inputQueue: 'Murano.web-1', dialect: 'murano' });
    expect(await getChannel(admin, { vmId: first.vmId })).toMatchObject({ inputQueue: 'Murano.web-1' });
    await expect(bindChannel(admin, { vmId: second.vmId, inputQueue: 'Murano.web-1' })).rejects.toMatchObject({
      code: 'input_queue_taken',
    });
    await expect(bindChannel(admin, { vmId: second.vmId, inputQueue: 'a b' })).rejects.toMatchObject({
      ...{ kind: 'unprocessable', faults: [{ path: '/inputQueue', code: 'queue_name_form' }] },
    });
  });

  test('stays the same while an execution waits or runs', async () => {
    const vm = await givenBoundVm(admin);
    await vm.queue();
    const busy = { kind: 'conflict', code: 'channel_busy' };
    await expect(unbindChannel(admin, { vmId: vm.vmId })).rejects.toMatchObject(busy);
    await expect(bindChannel(admin, { vmId: vm.vmId, dialect: 'murano' })).rejects.toMatchObject(busy);
    expect(await bindChannel(admin, { vmId: vm.vmId }), 'the same channel again').toEqual(vm.channel);
    await cancelWaiting(admin, { vmId: vm.vmId });
    await bindChannel(admin, { vmId: vm.vmId, dialect: 'murano' });
  });

  test('is deleted with the VM', async () => {
    const { vmId } = await givenBoundVm(admin);
    await removeVm(admin, { vmId });
    expect((await admin.db.select().from(executionChannels)).map((row) => row.vmId)).not.toContain(vmId);
  });

  test('can be read by viewers, and changed by admins', async () => {
    const { vmId } = await givenBoundVm(admin);
    const viewer = await testContext({ services: admin, role: 'viewer' });
    const operator = await testContext({ services: admin, role: 'operator' });
    expect(await getChannel(viewer, { vmId })).toMatchObject({ dialect: 'annex' });
    for (const ctx of [viewer, operator]) {
      await expect(bindChannel(ctx, { vmId })).rejects.toMatchObject({ kind: 'forbidden' });
      await expect(unbindChannel(ctx, { vmId })).rejects.toMatchObject({ kind: 'forbidden' });
    }
  });

  test('needs a VM that exists', async () => {
    for (const call of [getChannel, bindChannel, unbindChannel]) {
      await expect(call(admin, { vmId: unknown })).rejects.toMatchObject({ kind: 'not_found' });
    }
  });
});

describe('a cancellation', () => {
  test('of a plan that a machine got only over AMQP is rejected, and of a waiting plan is accepted', async () => {
    const vm = await givenBoundVm(admin);
    const [open, waiting] = [await vm.queue(), await vm.queue()];
    await vm.publish();
    await expect(cancelExecution(admin, { vmId: vm.vmId, executionId: open.id })).rejects.toMatchObject({
      ...{ kind: 'conflict', code: 'cancel_unreachable' },
    });
    expect(await cancelExecution(admin, { vmId: vm.vmId, executionId: waiting.id })).toEqual({ isEnded: true });
  });

  test('reaches a machine that polls the portal too', async () => {
    const machine = await givenMachine(admin, door);
    await bindChannel(admin, { vmId: machine.vmId });
    const { execution } = await queueExecution(admin, { vmId: machine.vmId, plan: smallPlan });
    const etag = await machine.etag();
    expect((await machine.poll(etag)).headers.get('annex-execution'), 'it comes over AMQP').toBeNull();
    await publishNext(admin, machine.vmId);
    expect(await cancelExecution(admin, { vmId: machine.vmId, executionId: execution.id })).toEqual({
      isEnded: false,
    });
    const seen = async () => (await machine.poll(etag)).headers.get('annex-execution-cancel');
    await expect.poll(seen, { timeout: 10_000 }).toBe(String(execution.stamp));
  });
});
