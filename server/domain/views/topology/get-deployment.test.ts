import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { agentPresence, deployments } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { foldHealth } from '#server/domain/health/index.ts';
import { setResources } from '#server/domain/localization/index.ts';
import { addMachine, removeMachine } from '#server/domain/topology/index.ts';
import { newStage, type Stage } from '#server/domain/topology/testing/stage.ts';
import { testContext } from '#server/testing/context.ts';
import { type GivenVm, givenExistingVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { fleetRows } from '../fleet-rows.ts';
import { getInstanceView } from '../get-instance-view.ts';
import { getVmFacts } from '../get-vm-facts.ts';
import { listFleet } from '../list-fleet.ts';
import { heartbeat, status, statusFile } from '../testing/probe.ts';
import { deploymentView } from './deployment-view.ts';
import { getDeployment } from './get-deployment.ts';
import { listCountedModels } from './list-counted-models.ts';
import { listModelMachines } from './list-model-machines.ts';

let stage: Stage;
let ctx: Context;

beforeAll(async () => {
  stage = await newStage();
  ctx = { ...(await testContext({ services: stage.ctx, role: 'viewer' })), now: stage.ctx.now };
  await givenVersion(ctx.db);
  const admin = await testContext({ services: ctx });
  for (const [lang, text] of [
    ['en', 'The disk is full.'],
    ['de', 'Die Platte ist voll.'],
  ] as const) {
    await setResources(admin, {
      handler: 'Acme.Lab.Probe',
      version: '1.0.0.0',
      lang,
      file: [{ version: 1, lang, messages: [{ id: 'full', text }] }],
    });
  }
});

/** Lets the agent of a machine run the extension `probe`, and report a heartbeat and a status. */
async function report(machine: { vmId: string; vm: string }, word: string): Promise<GivenVm> {
  const vm = await givenExistingVm(stage.ctx, { vmId: machine.vmId, name: machine.vm });
  await vm.declare('probe');
  await vm.deliver(ctx.now);
  const called = { lastSeenAt: ctx.now, nextExpectedAt: new Date(ctx.now.getTime() + 60_000) };
  await ctx.db
    .insert(agentPresence)
    .values({ vmId: vm.vmId, ...called })
    .onConflictDoNothing();
  const message = { formattedMessage: { lang: 'en', message: '' }, message: { id: 'full' } };
  const reports = {
    ...heartbeat('ready'),
    ...status(statusFile(word, message)),
    handlers: [
      {
        extension: 'probe',
        version: '1.0.0.0',
        sequenceNumber: 1,
        state: 'enabled',
        command: 'enable',
        exitCode: 0,
        attempt: 1,
      },
    ],
  };
  await ingestReport(await vm.agent(ctx.now), { vmId: vm.vmId, report: reports, receivedAt: ctx.now });
  return vm;
}

describe('JU-21 the deployment in a slot', () => {
  test('has the place, and for each role what the page of its VM shows', async () => {
    const { model, newMachines } = await stage.bootstrapped({ availabilitySetsEnabled: true, controllers: 2 });
    const [first, second] = newMachines as [(typeof newMachines)[number], (typeof newMachines)[number]];
    await report(first, 'error');
    const view = await getDeployment(ctx, {
      cloudService: first.cloudService,
      slot: 'production',
      chosenLanguage: 'de',
    });
    expect(deploymentView.parse(view)).toMatchObject({
      ...{ cloudService: first.cloudService, model, affinityGroup: `juju-${model}-ag`, slot: 'production' },
      ...{ dnsName: `${first.cloudService}.test`, publicAddress: `public address of ${first.cloudService}` },
      availabilitySet: { name: 'juju', roles: 2, covered: true },
      roles: [
        { instanceId: first.instanceId, hostname: first.hostname, health: 'failed', agent: { status: 'ready' } },
        {
          instanceId: second.instanceId,
          vm: second.vm,
          health: 'unknown',
          agent: { status: 'never', lastSeenAt: null },
        },
      ],
      languages: ['de'],
    });
    const [role] = view.roles;
    expect(role?.endpoints.map(({ name, set }) => [name, set])).toEqual([
      ['ssh', 'tcp22-22'],
      ['api', 'tcp17070-17070'],
    ]);
    const page = await getInstanceView(ctx, { vmId: first.vmId, chosenLanguage: 'de' });
    expect(role?.extensions).toMatchObject([{ status: { message: { text: 'Die Platte ist voll.' } } }]);
    expect(page.extensions).toMatchObject(role?.extensions ?? []);
    expect(page.health).toBe(role?.health);
  });

  test('takes as many statements for three roles as for one', async () => {
    const read = (cloudService: string) =>
      statementsOf(() => getDeployment(ctx, { cloudService, slot: 'production' })).then(({ length }) => length);
    const taken: number[] = [];
    for (const controllers of [1, 3]) {
      const { newMachines } = await stage.bootstrapped({ availabilitySetsEnabled: true, controllers });
      for (const machine of newMachines) await report(machine, 'success');
      taken.push(await read(newMachines[0]?.cloudService ?? ''));
    }
    expect(taken[1]).toBe(taken[0]);
    expect(taken[0]).toBeLessThanOrEqual(12);
  });

  test('is not covered with one role, and has no set without availability sets', async () => {
    const one = await stage.bootstrapped({ availabilitySetsEnabled: true, controllers: 1 });
    const of = (cloudService: string) => getDeployment(ctx, { cloudService, slot: 'production' });
    expect((await of(one.newMachines[0]?.cloudService ?? '')).availabilitySet).toEqual({
      ...{ name: 'juju', roles: 1, covered: false },
    });
    const { model, provider } = await stage.bootstrapped();
    const { cloudService } = await addMachine(stage.ctx, { model }, provider);
    expect((await of(cloudService)).availabilitySet).toBeNull();
  });

  test('is unknown without the cloud service, and empty without a deployment in the slot', async () => {
    const { model, provider } = await stage.bootstrapped();
    const { cloudService } = await addMachine(stage.ctx, { model }, provider);
    const read = (name: string) => getDeployment(ctx, { cloudService: name, slot: 'staging' });
    await expect(read('juju-absent-0123456789')).rejects.toMatchObject({ code: 'cloud_service_unknown' });
    await expect(read(cloudService)).rejects.toMatchObject({ code: 'slot_empty' });
    await ctx.db.update(deployments).set({ slot: 'staging' }).where(eq(deployments.cloudService, cloudService));
    expect(await read(cloudService)).toMatchObject({ slot: 'staging', roles: [{ endpoints: [{ reachable: false }] }] });
  });
});

test('the machines of a model are counted by health as the list of VMs counts them', async () => {
  const { model, provider } = await stage.bootstrapped();
  const machines = [await addMachine(stage.ctx, { model }, provider), await addMachine(stage.ctx, { model }, provider)];
  await report(machines[0]!, 'error');
  await foldHealth(ctx, ctx.now);
  const { items } = await listCountedModels(ctx);
  expect(items.find(({ name }) => name === model)?.health).toEqual({ failed: 1, unknown: 1 });
  for (const filter of [{ model }, { model, health: ['failed'] }, { cloudService: machines[1]!.cloudService }]) {
    const { items: listed } = await listFleet(ctx, filter as Parameters<typeof listFleet>[1]);
    expect(listed.map(({ role }) => role?.model)).toEqual(
      'health' in filter || 'cloudService' in filter ? [model] : [model, model],
    );
  }
  const own = await listModelMachines(ctx, { model });
  expect(own.items).toMatchObject([
    { vmId: machines[0]!.vmId, health: 'failed', reason: { extension: 'probe' }, extensions: 1, isEnrolled: false },
    { vmId: machines[1]!.vmId, health: 'unknown', reason: null, enrollmentExpiresAt: machines[1]!.enrollmentExpiresAt },
  ]);
  await expect(listModelMachines(ctx, { model: 'absent' })).rejects.toMatchObject({ code: 'model_unknown' });
});

test('a VM of a model says where it is, and lists find it by each part of its place', async () => {
  const { newMachines } = await stage.bootstrapped({ availabilitySetsEnabled: true, controllers: 2 });
  const [{ vmId, cloudService, instanceId, machine, assignedAddress }] = newMachines as [(typeof newMachines)[number]];
  const model = instanceId.split('-').slice(1, -2).join('-');
  const role = { model, cloudService, availabilitySet: 'juju', instanceId };
  expect((await getVmFacts(ctx, { vmId })).role).toEqual({
    ...role,
    ...{ machine, controller: true, slot: 'production', assignedAddress, state: 'ready', adopted: false },
  });
  expect((await fleetRows(ctx, [vmId], {}))[0]?.role).toEqual(role);
  const found = async (filter: object) => (await listFleet(ctx, filter)).items.map(({ id }) => id).toSorted();
  const both = newMachines.map((one) => one.vmId).toSorted();
  expect(await found({ cloudService })).toEqual(both);
  expect(await found({ availabilitySet: `${cloudService}/juju` })).toEqual(both);
  expect(await found({ availabilitySet: cloudService })).toEqual([]);
  expect(await found({ instanceId })).toEqual([vmId]);
  await removeMachine(stage.ctx, { model, machine, force: true });
  await stage.mend(stage.nothing());
  expect(await found({ cloudService })).toEqual(both.filter((id) => id !== vmId));
});
