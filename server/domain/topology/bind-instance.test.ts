import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { agents, changes, networks } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { enrollAgent, issueEnrollmentToken, registerVm } from '#server/domain/enrollment/index.ts';
import { testContext } from '#server/testing/context.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { addMachine, bindInstance, moveInstance, removeMachine } from './index.ts';
import type { NewMachine } from './machine-view.ts';
import { newStage, type Stage, type Staged } from './testing/stage.ts';

let stage: Stage;
let ctx: Context;
let staged: Staged;
let machine: NewMachine;

beforeAll(async () => {
  stage = await newStage();
  ctx = stage.ctx;
  staged = await stage.bootstrapped({ name: 'prod' });
  machine = await addMachine(ctx, { model: 'prod' }, staged.provider);
});

interface Reported {
  id: string;
  address: string;
}

async function enroll(enrollmentToken: string, instance?: Reported) {
  const request = { enrollmentToken, certificate: newKeyPair().certificate, agent: { name: 'test', version: '1' } };
  const anonymous = await testContext({ services: ctx, role: null });
  return enrollAgent(anonymous, { ...request, ...(instance && { instance }) }, bindInstance);
}
const addressOf = async (vmId: string) =>
  (await ctx.db.select().from(agents).where(eq(agents.vmId, vmId)))[0]?.internalAddress;
const bind = (vmId: string, reported: Reported | null) =>
  ctx.db.transaction((tx) => bindInstance(tx, ctx, vmId, reported));

describe('JU-19 binding an instance', () => {
  test('returns the address of the machine in the network', async () => {
    expect(await bind(machine.vmId, { id: machine.instanceId, address: '10.200.0.9' })).toBe('10.200.0.9');
  });

  test('needs no instance for a VM outside of models', async () => {
    const { id } = await registerVm(ctx, { name: 'plain' });
    expect(await bind(id, null)).toBeNull();
    await expect(bind(id, { id: 'juju-prod-x', address: '10.0.0.5' })).rejects.toMatchObject({
      ...{ kind: 'unprocessable', code: 'instance_unknown' },
    });
  });

  test.each([
    ['no instance', null, 'unprocessable', 'instance_missing', '/instance/id'],
    [
      'the id of no role',
      { id: 'juju-prod-x', address: '10.0.0.5' },
      'unprocessable',
      'instance_other_role',
      '/instance/id',
    ],
    [
      'an address elsewhere',
      { address: '192.168.1.5' },
      'unprocessable',
      'address_outside_network',
      '/instance/address',
    ],
    ['a host name', { address: 'web-1' }, 'unprocessable', 'address_outside_network', '/instance/address'],
  ])('rejects %s with its path', async (_, given, kind, code, path) => {
    const reported = given && { id: machine.instanceId, ...given };
    await expect(bind(machine.vmId, reported)).rejects.toMatchObject({ kind, code, faults: [{ path, code }] });
  });

  test('rejects the role of another VM, even if that role has no agent yet', async () => {
    const other = await addMachine(ctx, { model: 'prod' }, staged.provider);
    const claim = { id: machine.instanceId, address: '10.0.0.5' };
    await expect(bind(other.vmId, claim)).rejects.toMatchObject({ kind: 'conflict', code: 'instance_claimed' });
    const { id } = await registerVm(ctx, { name: 'claims' });
    await expect(bind(id, claim)).rejects.toMatchObject({ kind: 'conflict', code: 'instance_claimed' });
  });

  test('rejects the addresses of cloud services, even inside the network of the model', async () => {
    const inside = { ...ctx, config: { ...ctx.config, fabric: { ...ctx.config.fabric, addresses: '10.80.0.0/16' } } };
    const at = (address: string) =>
      ctx.db.transaction((tx) => bindInstance(tx, inside, machine.vmId, { id: machine.instanceId, address }));
    await expect(at('10.80.0.1')).rejects.toMatchObject({ code: 'address_outside_network' });
    expect(await at('10.81.0.1')).toBe('10.81.0.1');
  });
});

test('JU-19 a rejected agent leaves its token usable, and does not become the agent of the VM', async () => {
  const { vmId, enrollmentToken, instanceId: id } = await addMachine(ctx, { model: 'prod' }, staged.provider);
  await expect(enroll(enrollmentToken)).rejects.toMatchObject({ code: 'instance_missing' });
  expect(await addressOf(vmId)).toBeUndefined();
  await enroll(enrollmentToken, { id, address: '10.0.0.20' });
  expect(await addressOf(vmId)).toBe('10.0.0.20');
});

test('JU-19 a machine that enrolls with a new token replaces the previous one', async () => {
  const { vmId, enrollmentToken, instanceId: id } = await addMachine(ctx, { model: 'prod' }, staged.provider);
  await enroll(enrollmentToken, { id, address: '10.0.0.21' });
  const next = await issueEnrollmentToken(ctx, { vmId });
  await enroll(next.enrollmentToken, { id, address: '10.0.0.22' });
  expect(await ctx.db.$count(agents, eq(agents.vmId, vmId))).toBe(1);
  expect(await addressOf(vmId)).toBe('10.0.0.22');
});

test('JU-19 after its role is deleted, no agent becomes its instance', async () => {
  const {
    machine: number,
    enrollmentToken,
    instanceId: id,
  } = await addMachine(ctx, { model: 'prod' }, staged.provider);
  await removeMachine(ctx, { model: 'prod', machine: number });
  await stage.mend(staged.provider);
  await expect(enroll(enrollmentToken, { id, address: '10.0.0.23' })).rejects.toMatchObject({
    code: 'enrollment_refused',
  });
});

describe('JU-35 a changed address', () => {
  test('is stored, and open pages are updated', async () => {
    const { vmId, enrollmentToken, instanceId: id } = await addMachine(ctx, { model: 'prod' }, staged.provider);
    await enroll(enrollmentToken, { id, address: '10.0.0.30' });
    const before = await ctx.db.$count(changes, eq(changes.key, 'prod'));
    await moveInstance(ctx, vmId, { id, address: '10.0.0.31' });
    expect(await addressOf(vmId)).toBe('10.0.0.31');
    expect(await ctx.db.$count(changes, eq(changes.key, 'prod'))).toBe(before + 1);
  });

  test('must be in the network of the model, even if the network is a small one', async () => {
    await ctx.db.update(networks).set({ cidr: '10.7.0.0/24' }).where(eq(networks.name, 'juju-prod-vnet'));
    const move = (address: string) => moveInstance(ctx, machine.vmId, { id: machine.instanceId, address });
    await expect(move('10.8.0.1')).rejects.toMatchObject({ code: 'address_outside_network' });
    await move('10.7.0.9');
    await ctx.db.update(networks).set({ cidr: '10.0.0.0/8' }).where(eq(networks.name, 'juju-prod-vnet'));
  });

  test.each([
    ['nothing', {}, '/id'],
    ['no address', { id: 'x' }, '/address'],
    ['a number', { id: 'x', address: 10 }, '/address'],
  ])('%s is rejected with its path', async (_, input, path) => {
    await expect(moveInstance(ctx, machine.vmId, input)).rejects.toMatchObject({
      ...{ kind: 'bad_request', code: 'invalid' },
      faults: expect.arrayContaining([expect.objectContaining({ path })]),
    });
  });
});
