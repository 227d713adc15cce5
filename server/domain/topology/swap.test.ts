import { and, eq } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { auditEntries, deployments, vmRoles } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext } from '#server/testing/context.ts';
import { destroyModel, getModel, getTopology, planSwap, removeMachine, setEndpoint, swap, swapPlan } from './index.ts';
import { lockModel, updateModel } from './model-rows.ts';
import { type LabService, newService, stageRole } from './testing/lab-service.ts';
import { newStage, type Stage } from './testing/stage.ts';

let stage: Stage;
let ctx: Context;
let lab: LabService;
/** The deployments of the cloud service. The first role is in `blue`, the second one in `green`. */
let blue: string;
let green: string;

beforeAll(async () => {
  stage = await newStage();
  ctx = stage.ctx;
});

beforeEach(async () => {
  lab = await newService(stage);
  blue = `${lab.service}-v2`;
  green = await stageRole(ctx, lab.second);
});

const plan = () => planSwap(ctx, { cloudService: lab.service });
const swapNow = (given: { plan?: string; ifMatch?: number } = {}) =>
  swap(ctx, { cloudService: lab.service, ...given }, lab.provider);
const slots = async () => {
  const rows = await ctx.db.select().from(deployments).where(eq(deployments.cloudService, lab.service));
  return Object.fromEntries(rows.map(({ name, slot }) => [slot, name]));
};
const open = (instance: string, port: number, set = true) =>
  setEndpoint(ctx, { instance, protocol: 'tcp', port, set }, lab.provider);

describe('JU-28 a swap', () => {
  test('exchanges the two deployments, and a second one undoes the first', async () => {
    expect(await slots()).toEqual({ production: blue, staging: green });
    await swapNow();
    expect(await slots()).toEqual({ production: green, staging: blue });
    expect(lab.provider.slots.get(lab.service)).toEqual({ production: green, staging: blue });
    await swapNow();
    expect(await slots()).toEqual({ production: blue, staging: green });
    expect(lab.provider.slots.get(lab.service)).toEqual({ production: blue, staging: green });
  });

  test('moves a single deployment to the other slot and back', async () => {
    const alone = await newService(stage);
    lab = alone;
    const only = `${alone.service}-v2`;
    expect(await plan()).toMatchObject({
      production: { before: only, after: null },
      staging: { before: null, after: only },
    });
    await swapNow();
    expect(await slots()).toEqual({ staging: only });
    await swapNow();
    expect(await slots()).toEqual({ production: only });
  });

  test('is one statement, and no reader sees two deployments in one slot', async () => {
    const seen = new Set<string>();
    let isOver = false;
    const reading = (async () => {
      while (!isOver) seen.add(JSON.stringify(Object.entries(await slots()).toSorted()));
    })();
    for (let count = 0; count < 10; count += 1) await swapNow();
    isOver = true;
    await reading;
    const legal = [
      { production: blue, staging: green },
      { production: green, staging: blue },
    ].map((one) => JSON.stringify(Object.entries(one).toSorted()));
    expect([...seen].filter((one) => !legal.includes(one))).toEqual([]);
  });

  test('of several people at the same time is ordered', async () => {
    await Promise.all(Array.from({ length: 5 }, () => swapNow()));
    expect(await slots()).toEqual({ production: green, staging: blue });
  });

  test('is kept if the provider fails, and the repair calls the provider again', async () => {
    lab.provider.fate = (step) => (step === 'swap' ? 'failBefore' : 'succeed');
    await swapNow();
    expect(await slots()).toEqual({ production: green, staging: blue });
    expect(lab.provider.slots.get(lab.service)).toBeUndefined();
    lab.provider.fate = () => 'succeed';
    await stage.mend(lab.provider, 61);
    expect(lab.provider.slots.get(lab.service)).toEqual({ production: green, staging: blue });
  });

  test('changes what is reachable, and the revision of the model', async () => {
    const { revision } = await getModel(ctx, { model: lab.model });
    const done = await swapNow();
    expect(done.revision).toBe(revision + 1);
    expect(await getModel(ctx, { model: lab.model })).toMatchObject({ revision: revision + 1 });
    const { cloudServices } = await getTopology(ctx, { model: lab.model });
    const reachable = cloudServices[0]?.deployments.map(({ name, slot, endpoints }) => [
      ...[name, slot],
      endpoints.every((one) => one.reachable === (slot === 'production')),
    ]);
    expect(reachable).toEqual([
      [green, 'production', true],
      [blue, 'staging', true],
    ]);
  });

  test('is in the activity log, with the deployments before and after', async () => {
    await swapNow();
    const [act] = await readActs(
      ctx.db,
      and(eq(auditEntries.action, 'deployment.swap'), eq(auditEntries.targetId, lab.model)),
    );
    expect(act).toMatchObject({
      ...{ targetKind: 'model', details: { service: lab.service } },
      before: { production: blue, staging: green },
      after: { production: green, staging: blue },
    });
  });
});

describe('the plan of a swap', () => {
  test('names the deployments, and the ports that become public and cease to be', async () => {
    await open(lab.first.instanceId, 80);
    await open(lab.second.instanceId, 80);
    await open(lab.second.instanceId, 8_080);
    const planned = swapPlan.parse(await plan());
    const of = ({ instanceId }: { instanceId: string }, port: number) => ({ instanceId, protocol: 'tcp', port });
    expect(planned).toMatchObject({
      cloudService: lab.service,
      production: { before: blue, after: green },
      staging: { before: green, after: blue },
      becomePublic: [22, 80, 8_080, 17_070].map((port) => of(lab.second, port)),
      ceasePublic: [22, 80, 17_070].map((port) => of(lab.first, port)),
      unchanged: [22, 80, 17_070].map((port) => ({ protocol: 'tcp', port })),
      revision: (await getModel(ctx, { model: lab.model })).revision,
    });
    const { revision, ...done } = await swapNow({ plan: planned.planHash });
    expect({ ...done, revision: revision - 1 }).toEqual(planned);
  });

  test('writes nothing', async () => {
    const before = await getModel(ctx, { model: lab.model });
    expect((await plan()).planHash).toBe((await plan()).planHash);
    expect([await getModel(ctx, { model: lab.model }), await slots()]).toEqual([
      before,
      { production: blue, staging: green },
    ]);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['a port was opened', () => open(lab.second.instanceId, 81)],
    ['a machine is being removed', () => removeMachine(ctx, { model: lab.model, machine: lab.first.machine })],
    ['another person swapped', () => swapNow()],
  ])('is out of date if %s meanwhile', async (_, change) => {
    const { planHash } = await plan();
    await change();
    const before = await slots();
    await expect(swapNow({ plan: planHash })).rejects.toMatchObject({
      ...{ kind: 'precondition_failed', code: 'plan_moved_on' },
    });
    expect(await slots()).toEqual(before);
    await swapNow({ plan: (await plan()).planHash });
    expect(await slots()).not.toEqual(before);
  });

  test('stays valid if something else in the model changed', async () => {
    const { planHash, revision } = await plan();
    await ctx.db.transaction(async (tx) => {
      await updateModel(tx, await lockModel(tx, lab.model));
    });
    await expect(swapNow({ plan: planHash, ifMatch: revision })).rejects.toMatchObject({ code: 'model_changed' });
    await swapNow({ plan: planHash });
    expect(await slots()).toEqual({ production: green, staging: blue });
  });

  test('with another text is rejected', async () => {
    await expect(swapNow({ plan: 'x' })).rejects.toMatchObject({ code: 'plan_moved_on' });
  });
});

describe('a swap is rejected', () => {
  const both = [plan, () => swapNow()];

  test('for a cloud service that does not exist or is deleted', async () => {
    const refused = { kind: 'not_found', code: 'cloud_service_unknown' };
    await expect(swap(ctx, { cloudService: 'juju-absent-k3j9x0a1bz' })).rejects.toMatchObject(refused);
    await destroyModel(ctx, { model: lab.model, confirm: lab.model, force: true });
    for (const one of both) await expect(one()).rejects.toMatchObject({ kind: 'conflict', code: 'model_dying' });
    await stage.mend(lab.provider);
    for (const one of both) await expect(one()).rejects.toMatchObject(refused);
  });

  test('while a role is being created', async () => {
    await ctx.db.update(vmRoles).set({ state: 'creating' }).where(eq(vmRoles.vmId, lab.first.vmId));
    for (const one of both) {
      await expect(one()).rejects.toMatchObject({ kind: 'conflict', code: 'cloud_service_changing' });
    }
  });

  test('without a deployment', async () => {
    await ctx.db.delete(deployments).where(eq(deployments.cloudService, lab.service));
    for (const one of both) await expect(one()).rejects.toMatchObject({ kind: 'conflict', code: 'deployment_missing' });
  });

  test('of a viewer', async () => {
    const viewer = await testContext({ services: ctx, role: 'viewer' });
    const asked = { cloudService: lab.service };
    await expect(planSwap(viewer, asked)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(swap(viewer, asked)).rejects.toMatchObject({ code: 'forbidden' });
  });
});

test('JU-42 a deployment ends with its last role, and the agreement covers each deployment separately', async () => {
  const covered = async () =>
    (await getTopology(ctx, { model: lab.model })).cloudServices[0]?.deployments.map((one) => [one.slot, one.covered]);
  expect(await covered()).toEqual([
    ['production', false],
    ['staging', false],
  ]);
  await removeMachine(ctx, { model: lab.model, machine: lab.second.machine, force: true });
  await stage.mend(lab.provider);
  expect(await slots()).toEqual({ production: blue });
  const whole = await newService(stage);
  const before = await getTopology(ctx, { model: whole.model });
  expect(before.cloudServices[0]?.deployments[0]).toMatchObject({ covered: true });
  await removeMachine(ctx, { model: whole.model, machine: whole.second.machine });
  const after = await getTopology(ctx, { model: whole.model });
  expect(after.cloudServices[0]?.deployments[0]).toMatchObject({ covered: false });
});
