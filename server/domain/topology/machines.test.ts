import { eq, isNull } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { agents, cloudServices, networks, vmRoles, vms } from '#db/schema/index.ts';
import { fetchGoalState, setExtension } from '#server/domain/goal-states/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { deriveKeys } from '#server/platform/keys.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import { outcomeOf } from '#server/testing/records.ts';
import {
  addMachine,
  destroyModel,
  getModel,
  getTopology,
  listInstances,
  removeMachine,
  resealRolePasswords,
} from './index.ts';
import { localFabric } from './local-fabric.ts';
import { NameTakenError } from './provider.ts';
import { openPassword } from './role-password.ts';
import { newStage, type Stage, type Staged } from './testing/stage.ts';

let stage: Stage;
let ctx: Stage['ctx'];
let off: Staged;

beforeAll(async () => {
  stage = await newStage();
  ctx = stage.ctx;
  off = await stage.bootstrapped();
  await givenVersion(ctx.db);
});

const add = ({ model, provider }: Staged) => addMachine(ctx, { model }, provider);
const roleOf = async (vmId: string) => (await ctx.db.select().from(vmRoles).where(eq(vmRoles.vmId, vmId)))[0];
const isThere = async (vmId: string) =>
  (await ctx.db.select().from(vms).where(eq(vms.id, vmId)))[0]?.deletedAt === null;

describe('JU-8 with availability sets', () => {
  test('adding a machine is rejected, and nothing is created', async () => {
    const staged = await stage.bootstrapped({ availabilitySetsEnabled: true });
    staged.provider.calls.length = 0;
    const before = await ctx.db.$count(vms);
    await expect(add(staged)).rejects.toMatchObject({ kind: 'conflict', code: 'machine_placement_unsupported' });
    expect(staged.provider.calls).toEqual([]);
    expect([await ctx.db.$count(vms), (await getModel(ctx, staged)).machines]).toEqual([before, 0]);
  });
});

describe('without availability sets', () => {
  test('JU-11 each machine has its own cloud service, and no availability set', async () => {
    const added = [await add(off), await add(off)];
    const services = added.map(({ cloudService }) => cloudService);
    expect(new Set(services).size).toBe(2);
    for (const { vmId, cloudService, instanceId } of added) {
      expect(cloudService).toMatch(new RegExp(`^juju-${off.model}-[a-z0-9]{10}$`));
      expect(instanceId).toMatch(new RegExp(`^${cloudService}-juju[a-z0-9]{10}$`));
      expect(await roleOf(vmId)).toMatchObject({ availabilitySet: null, state: 'ready', leaseUntil: null });
      expect((await ctx.db.select().from(vms).where(eq(vms.id, vmId)))[0]).toMatchObject({
        instanceId,
        disruptionGroup: null,
      });
    }
  });

  test('the creator gets the enrollment command', async () => {
    const { command, enrollmentToken, instanceId, assignedAddress, startsAgents } = await add(off);
    expect(startsAgents).toBe(false);
    expect(command).toBe(
      `annex-agent enroll --dir /var/lib/annex-agent --portal ${ctx.config.gatewayUrl} --token ${enrollmentToken} --instance-id ${instanceId} --internal-address ${assignedAddress}`,
    );
  });

  test('JU-38 numbers of machines are never used again', async () => {
    const staged = await stage.bootstrapped();
    const first = await add(staged);
    await removeMachine(ctx, { model: staged.model, machine: first.machine });
    await stage.mend(staged.provider);
    staged.provider.fate = (step) => (step === 'deployment' ? 'failBefore' : 'succeed');
    await expect(add(staged)).rejects.toMatchObject({ code: 'provider_failed', params: { step: 'deployment' } });
    staged.provider.fate = () => 'succeed';
    expect([first.machine, (await add(staged)).machine]).toEqual([0, 2]);
  });

  test('a machine whose name another VM has gets its instance id as name', async () => {
    const staged = await stage.bootstrapped({ name: 'named' });
    await ctx.db
      .update(vms)
      .set({ name: 'named-0' })
      .where(eq(vms.id, (await add(off)).vmId));
    const { vm, instanceId, hostname } = await add(staged);
    expect([vm, hostname]).toEqual([instanceId, 'named-0']);
  });

  test('concurrent requests get different numbers, names and addresses', async () => {
    const { model } = await stage.bootstrapped();
    const added = await Promise.all(Array.from({ length: 4 }, () => addMachine(ctx, { model }, localFabric(ctx))));
    for (const field of ['machine', 'cloudService', 'assignedAddress'] as const) {
      expect(new Set(added.map((one) => one[field])).size).toBe(4);
    }
    const services = await ctx.db.select().from(cloudServices).where(isNull(cloudServices.goneAt));
    const own = services.filter(({ name }) => added.some(({ cloudService }) => cloudService === name));
    expect(new Set(own.map(({ publicAddress }) => publicAddress)).size).toBe(4);
    expect(own.every(({ name, dnsName }) => dnsName === `${name}.cloudapp.internal`)).toBe(true);
    expect(own.every(({ publicAddress }) => publicAddress?.startsWith('127.80.'))).toBe(true);
  });

  test('a network without a free address fails the request, and nothing remains', async () => {
    const { model } = await stage.bootstrapped();
    await ctx.db
      .update(networks)
      .set({ cidr: '10.9.0.0/30' })
      .where(eq(networks.name, `juju-${model}-vnet`));
    await expect(addMachine(ctx, { model }, localFabric(ctx))).rejects.toMatchObject({ code: 'provider_failed' });
    expect(await getModel(ctx, { model })).toMatchObject({ machines: 0, cloudServices: 0 });
  });
});

describe('a machine that is removed while it is being created', () => {
  /** Adds a machine, and acts during a call of the provider, which succeeds or fails afterwards. */
  const during = async (staged: Staged, act: () => Promise<unknown>, fails = false) => {
    const { provider } = staged;
    const endpoints = provider.endpoints;
    provider.endpoints = async (...call) => {
      await act();
      if (fails) throw new Error('there is no such role');
      await endpoints(...call);
    };
    try {
      return await outcomeOf(add(staged));
    } finally {
      provider.endpoints = endpoints;
    }
  };
  const remove = ({ model }: Staged) => removeMachine(ctx, { model, machine: 0 });
  const left = async (staged: Staged) => {
    expect(await stage.mend(staged.provider)).toBe(0);
    expect(staged.provider.services.size).toBe(0);
    expect(await getModel(ctx, staged)).toMatchObject({ machines: 0, cloudServices: 0 });
  };

  test.each([false, true])('is not created, whether or not the provider fails then: %s', async (fails) => {
    const staged = await stage.bootstrapped();
    expect(await during(staged, () => remove(staged), fails)).toBe('conflict machine_removed');
    await left(staged);
  });

  test('is not created if the repair has deleted it already', async () => {
    const staged = await stage.bootstrapped();
    const act = async () => {
      await remove(staged);
      await stage.mend(staged.provider);
    };
    expect(await during(staged, act)).toBe('conflict machine_removed');
    await left(staged);
  });

  test('leaves nothing at the provider, whose call takes effect after the repair', async () => {
    const staged = await stage.bootstrapped();
    const { provider } = staged;
    const { cloudService } = provider;
    provider.cloudService = async (request) => {
      await remove(staged);
      await stage.mend(provider);
      return cloudService(request);
    };
    expect(await outcomeOf(add(staged))).toBe('conflict machine_removed');
    await left(staged);
  });

  test('is not created with another name if the provider already has the name of its cloud service', async () => {
    const staged = await stage.bootstrapped();
    const { provider } = staged;
    provider.cloudService = async ({ name }) => {
      await remove(staged);
      throw new NameTakenError(name);
    };
    expect(await outcomeOf(add(staged))).toBe('conflict machine_removed');
    await left(staged);
  });

  test('is not created if its model is destroyed', async () => {
    const staged = await stage.bootstrapped();
    const { model, provider } = staged;
    expect(await during(staged, () => destroyModel(ctx, { model, confirm: model }))).toBe('conflict model_dying');
    await stage.mend(provider);
    expect([provider.services.size, provider.networks.size]).toEqual([0, 0]);
    await expect(getModel(ctx, staged)).rejects.toMatchObject({ code: 'model_unknown' });
  });
});

describe('JU-3 a name that the provider already has', () => {
  test.each([
    [1, 1],
    [9, 1],
  ])('%d times: the request succeeds with another name, and no other cloud service is left', async (taken, left) => {
    const staged = await stage.bootstrapped();
    let tries = 0;
    staged.provider.fate = (step) => {
      if (step === 'cloudService') tries += 1;
      return step === 'cloudService' && tries <= taken ? 'nameTaken' : 'succeed';
    };
    await add(staged);
    expect((await getTopology(ctx, staged)).cloudServices).toHaveLength(left);
    expect(staged.provider.services.size).toBe(1);
    expect(tries).toBe(taken + 1);
  });

  test('ten times: the request fails, and no cloud service is left', async () => {
    const staged = await stage.bootstrapped();
    staged.provider.fate = (step) => (step === 'cloudService' ? 'nameTaken' : 'succeed');
    await expect(add(staged)).rejects.toMatchObject({ kind: 'unavailable', code: 'cloud_service_name_exhausted' });
    expect(staged.provider.calls.filter((call) => call.startsWith('cloudService'))).toHaveLength(10);
    expect(await getModel(ctx, staged)).toMatchObject({ machines: 0, cloudServices: 0 });
  });

  test('a failure before the first role leaves no empty cloud service', async () => {
    const staged = await stage.bootstrapped();
    staged.provider.fate = (step) => (step === 'deployment' ? 'failBefore' : 'succeed');
    await expect(add(staged)).rejects.toMatchObject({ code: 'provider_failed' });
    expect([staged.provider.services.size, (await getModel(ctx, staged)).cloudServices]).toEqual([0, 0]);
  });
});

describe('JU-14 instances by their ids', () => {
  test('keep their order, with gaps for unknown ids', async () => {
    const [one, two] = [await add(off), await add(off)];
    const list = (...ids: string[]) => listInstances(ctx, { model: off.model, ids });
    const found = await list(two.instanceId, `${two.instanceId}x`, one.instanceId);
    expect(found.instances.map((instance) => instance?.machine ?? null)).toEqual([two.machine, null, one.machine]);
    expect(found.partial).toBe(true);
    expect((await list(one.instanceId)).partial).toBe(false);
    await expect(list('x')).rejects.toMatchObject({ kind: 'not_found', code: 'no_instances' });
    await expect(list()).rejects.toMatchObject({ code: 'no_instances' });
  });

  test('JU-12 the name of a cloud service means its only role, and is rejected if there are two', async () => {
    const { cloudService, machine } = await add(off);
    const { instances } = await listInstances(ctx, { model: off.model, ids: [cloudService] });
    expect(instances[0]?.machine).toBe(machine);
    const two = await stage.bootstrapped({ availabilitySetsEnabled: true, controllers: 2 });
    const ids = [two.newMachines[0]?.cloudService ?? ''];
    await expect(listInstances(ctx, { model: two.model, ids })).rejects.toMatchObject({
      ...{ kind: 'conflict', code: 'legacy_instance_ambiguous', params: { roles: 2 } },
    });
  });

  test('JU-13 a model never lists what belongs to a model with a longer name', async () => {
    const [azure, other] = [await stage.bootstrapped({ name: 'azure' }), await stage.bootstrapped({ name: 'azure-1' })];
    const [own, foreign] = [await add(azure), await add(other)];
    await expect(listInstances(ctx, { model: 'azure', ids: [foreign.instanceId] })).rejects.toMatchObject({
      code: 'no_instances',
    });
    const { cloudServices: services } = await getTopology(ctx, { model: 'azure' });
    expect(services.map(({ name }) => name)).toEqual([own.cloudService]);
  });
});

describe('JU-43 the password of a role', () => {
  test('is only in the response that creates it', async () => {
    const added = await add(off);
    const { rows } = await ctx.db.$client.query(
      'select t::text as row from vm_roles t union all select a::text from audit_entries a',
    );
    expect(JSON.stringify(rows)).not.toContain(added.password);
    expect(JSON.stringify(await getTopology(ctx, off))).not.toContain(added.password);
    const row = await roleOf(added.vmId);
    expect(openPassword(ctx.keys, added.vmId, row?.password as Buffer)).toBe(added.password);
  });

  test('can be read with a new secret key after the change', async () => {
    const { vmId, password } = await add(off);
    const next = deriveKeys(Buffer.alloc(32, 7));
    const count = await ctx.db.transaction((tx) => resealRolePasswords(tx, ctx.keys, next));
    expect(count).toBe(await ctx.db.$count(vmRoles));
    expect(openPassword(next, vmId, (await roleOf(vmId))?.password as Buffer)).toBe(password);
    await ctx.db.transaction((tx) => resealRolePasswords(tx, next, ctx.keys));
  });
});

describe('removing a machine', () => {
  /** Enrolls an agent and declares an extension, which the agent must uninstall. */
  async function withExtension(vmId: string): Promise<void> {
    const unknown = {
      credentialHash: vmId,
      certificate: '',
      thumbprint: '',
      keyHash: vmId,
      os: {},
      enrolledAt: ctx.now,
    };
    await ctx.db.insert(agents).values({ vmId, name: 'test', version: '1', ...unknown });
    const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' as const };
    await setExtension(ctx, { vmId, name: 'probe', goal });
    await fetchGoalState(ctx.db, vmId, ctx.now);
  }

  test('JU-36 the VM of a role is deleted only by its model', async () => {
    const { vmId, instanceId } = await add(off);
    await expect(removeVm(ctx, { vmId })).rejects.toMatchObject({
      ...{ kind: 'conflict', code: 'vm_is_role', params: { instance: instanceId } },
    });
    expect(await isThere(vmId)).toBe(true);
  });

  test('JU-36 waits until the agent has uninstalled the extensions', async () => {
    const staged = await stage.bootstrapped();
    const { vmId, machine } = await add(staged);
    await withExtension(vmId);
    await removeMachine(ctx, { model: staged.model, machine });
    expect(await stage.mend(staged.provider)).toBe(1);
    expect(await stage.mend(staged.provider)).toBe(1);
    expect([await isThere(vmId), staged.provider.services.size]).toEqual([true, 1]);
    const actor = { kind: 'agent' as const, id: vmId, name: 'agent', role: null, namespaces: [] };
    await fetchGoalState(ctx.db, vmId, ctx.now);
    const handlers = [{ extension: 'probe', version: '1.0.0.0', sequenceNumber: 2, state: 'removed' as const }];
    await ingestReport({ ...ctx, actor }, { vmId, report: { handlers }, receivedAt: ctx.now });
    expect(await isThere(vmId)).toBe(false);
    expect(await stage.mend(staged.provider)).toBe(0);
    expect([await roleOf(vmId), staged.provider.services.size]).toEqual([undefined, 0]);
    expect(await getModel(ctx, staged)).toMatchObject({ machines: 0, cloudServices: 0 });
  });

  test('with force, does not wait', async () => {
    const staged = await stage.bootstrapped();
    const { vmId, machine } = await add(staged);
    await withExtension(vmId);
    await removeMachine(ctx, { model: staged.model, machine });
    await stage.mend(staged.provider);
    await removeMachine(ctx, { model: staged.model, machine, force: true });
    expect(await stage.mend(staged.provider)).toBe(0);
    expect([await isThere(vmId), staged.provider.services.size]).toEqual([false, 0]);
  });

  test('JU-42 the agreement no longer covers the remaining role', async () => {
    const { model, newMachines } = await stage.bootstrapped({ availabilitySetsEnabled: true, controllers: 2 });
    const covered = async () => (await getTopology(ctx, { model })).cloudServices[0]?.deployments[0]?.covered;
    expect(await covered()).toBe(true);
    await removeMachine(ctx, { model, machine: newMachines[1]?.machine ?? 0 });
    expect(await covered()).toBe(false);
  });

  test('a machine that does not exist is unknown', async () => {
    const unknown = removeMachine(ctx, { model: off.model, machine: 999 });
    await expect(unknown).rejects.toMatchObject({ kind: 'not_found', code: 'machine_unknown' });
  });
});

test('after the destruction of the model, no machine can be added', async () => {
  const staged = await stage.bootstrapped();
  await destroyModel(ctx, { model: staged.model, confirm: staged.model });
  await stage.mend(staged.provider);
  await expect(add(staged)).rejects.toMatchObject({ kind: 'not_found', code: 'model_unknown' });
});
