import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { agents, auditEntries, stockAgents, vmRoles } from '#db/schema/index.ts';
import { enrollAgent } from '#server/domain/enrollment/index.ts';
import { grantWireAccess } from '#server/domain/stock-agents/index.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { addMachine, bindInstance, removeMachine, renewPassword, renewToken } from './index.ts';
import { openPassword } from './role-password.ts';
import { newStage, type Stage, type Staged } from './testing/stage.ts';

let stage: Stage;
let ctx: Stage['ctx'];
let off: Staged;

beforeAll(async () => {
  stage = await newStage();
  ctx = stage.ctx;
  off = await stage.bootstrapped();
});

const add = () => addMachine(ctx, { model: off.model }, off.provider);
const storedPassword = async (vmId: string) => {
  const [role] = await ctx.db.select().from(vmRoles).where(eq(vmRoles.vmId, vmId));
  return openPassword(ctx.keys, vmId, role?.password as Buffer);
};

describe('JU-43 the renewed password of a role', () => {
  test('replaces the earlier one, is only in its response, and is in the activity log without its value', async () => {
    const { vmId, vm, instanceId, userName, password } = await add();
    const renewed = await renewPassword(ctx, { instance: instanceId });
    expect(renewed).toEqual({ vmId, instanceId, userName, password: expect.stringMatching(/^[\w-]{24}$/) });
    expect(renewed.password).not.toBe(password);
    expect(await storedPassword(vmId)).toBe(renewed.password);
    const acts = await readActs(ctx.db, eq(auditEntries.action, 'role.password'));
    expect(acts).toMatchObject([{ vmId, targetId: off.model, details: { machine: vm } }]);
    const { rows } = await ctx.db.$client.query(
      'select t::text as row from vm_roles t union all select a::text from audit_entries a',
    );
    expect(JSON.stringify(rows)).not.toContain(renewed.password);
  });

  test.each([
    ['viewer', 'forbidden forbidden'],
    ['publisher', 'forbidden forbidden'],
    ['operator', 'done'],
    ['admin', 'done'],
  ] as const)('is for operators: %s', async (role, expected) => {
    const { instanceId } = await add();
    const caller = await testContext({ services: ctx, role });
    expect(await outcomeOf(renewPassword(caller, { instance: instanceId }))).toBe(expected);
  });

  test('is rejected for an unknown machine, and for one that is being created or removed', async () => {
    const { instanceId, machine, vmId } = await add();
    const renew = (instance = instanceId) => outcomeOf(renewPassword(ctx, { instance }));
    expect(await renew(`${instanceId}x`)).toBe('not_found role_instance_unknown');
    expect(await renew('')).toBe('not_found role_instance_unknown');
    await ctx.db.update(vmRoles).set({ state: 'creating' }).where(eq(vmRoles.vmId, vmId));
    expect(await renew()).toBe('conflict role_creating');
    await ctx.db.update(vmRoles).set({ state: 'ready' }).where(eq(vmRoles.vmId, vmId));
    await removeMachine(ctx, { model: off.model, machine });
    expect(await renew()).toBe('conflict role_dying');
  });
});

describe('JU-35 a renewed enrollment token', () => {
  test('comes with the whole command, which enrolls the next machine of the role', async () => {
    const added = await add();
    const { command, instance, enrollmentToken } = await renewToken(ctx, { vmId: added.vmId });
    expect(instance).toEqual({ id: added.instanceId, internalAddress: added.assignedAddress });
    expect(command).toBe(added.command.replace(added.enrollmentToken, enrollmentToken));
    const anyone = await testContext({ services: ctx, role: null });
    const enroll = (token: string) =>
      enrollAgent(
        anyone,
        {
          ...{ enrollmentToken: token, certificate: newKeyPair().certificate, agent: { name: 'test', version: '1' } },
          instance: { id: added.instanceId, address: added.assignedAddress },
        },
        bindInstance,
      );
    expect(await outcomeOf(enroll(added.enrollmentToken))).toBe('unauthenticated enrollment_refused');
    expect(await outcomeOf(enroll(enrollmentToken))).toBe('done');
    const [agent] = await ctx.db.select().from(agents).where(eq(agents.vmId, added.vmId));
    expect(agent).toMatchObject({ internalAddress: added.assignedAddress });
  });

  test('contains no instance for a VM outside of models', async () => {
    const { vmId } = await givenVm(ctx);
    const { command, instance, enrollmentToken } = await renewToken(ctx, { vmId });
    expect(instance).toBeNull();
    expect(command).toBe(
      `annex-agent enroll --dir /var/lib/annex-agent --portal ${ctx.config.gatewayUrl} --token ${enrollmentToken}`,
    );
  });

  test('is rejected for a viewer, an unknown VM, and a machine that is being removed', async () => {
    const { vmId, machine } = await add();
    const viewer = await testContext({ services: ctx, role: 'viewer' });
    expect(await outcomeOf(renewToken(viewer, { vmId }))).toBe('forbidden forbidden');
    const unknown = '00000000-0000-4000-8000-000000000000';
    expect(await outcomeOf(renewToken(ctx, { vmId: unknown }))).toBe('not_found vm_unknown');
    await removeMachine(ctx, { model: off.model, machine });
    expect(await outcomeOf(renewToken(ctx, { vmId }))).toBe('conflict role_dying');
  });
});

test('JU-19 a stock agent cannot be the instance of a role', async () => {
  const { vmId, instanceId } = await add();
  const wired = { ...ctx, config: { ...ctx.config, wire: true } };
  await expect(grantWireAccess(wired, { vmId })).rejects.toMatchObject({
    ...{ kind: 'conflict', code: 'vm_needs_reference_agent', params: { instance: instanceId } },
  });
  expect(await ctx.db.$count(agents, eq(agents.vmId, vmId))).toBe(0);
  expect(await ctx.db.$count(stockAgents, eq(stockAgents.vmId, vmId))).toBe(0);
});
