import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { relationUnits, unitHeads, units, vmRoles, vms } from '#db/schema/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import { systemOrigin } from '#server/domain/context.ts';
import { getModel } from '#server/domain/topology/index.ts';
import type { Staged } from '#server/domain/topology/testing/stage.ts';
import {
  addRelation,
  confirmRemoval,
  destroyModel,
  endRun,
  getService,
  getUnit,
  listRelations,
  mendUnits,
  removeMachine,
  removeService,
  removeUnit,
} from './index.ts';
import { ServiceStage } from './testing/service-stage.ts';

let stage: ServiceStage;
let sets: Staged;
let blog: { formula: string; version: string };
let web: { formula: string; version: string };
let db: { formula: string; version: string };

beforeAll(async () => {
  stage = await ServiceStage.open();
  sets = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
  blog = await stage.formula('blog');
  web = await stage.formula('web', '1.0.0.0', { metadata: { requires: { db: { interface: 'mysql' } } } });
  db = await stage.formula('mysql', '1.0.0.0', { metadata: { provides: { db: { interface: 'mysql' } } } });
});

const serviceOf = (service: string, { model } = sets) => getService(stage.ctx, { model, service });
const unitOf = (unit: string, { model } = sets) => getUnit(stage.ctx, { model, unit });
const remove = (unit: string, force = false) => removeUnit(stage.ctx, { model: sets.model, unit, force });
const isGone = async (service: string, staged = sets) =>
  serviceOf(service, staged).then(
    () => false,
    ({ code }: { code: string }) => code === 'service_unknown',
  );
const roleOf = async (vmId: string) => (await stage.ctx.db.select().from(vmRoles).where(eq(vmRoles.vmId, vmId)))[0];

/** Deploys a service with one unit whose agent has fetched it and, if wanted, started it. */
async function deployed(service: string, formula = blog, { starts = false, staged = sets } = {}) {
  const declared = await stage.deploy(staged, service, formula);
  const [unit] = declared.units;
  if (unit === undefined) throw new Error('a unit was declared');
  if (starts) await stage.start(unit);
  return unit;
}

describe('a unit', () => {
  test('EN-52 that no agent has fetched is removed immediately, with its machine and its service', async () => {
    const { newUnits } = await stage.declare(sets, 'unseen', { ...blog, units: 2 });
    await remove('unseen/1');
    expect(await unitOf('unseen/1')).toMatchObject({ stage: 'removed', machine: newUnits[1]?.machine?.machine });
    expect(await roleOf(newUnits[1]?.machine?.vmId ?? '')).toMatchObject({ state: 'deleting' });
    await removeService(stage.ctx, { model: sets.model, service: 'unseen' });
    expect(await isGone('unseen')).toBe(true);
    expect(await unitOf('unseen/0')).toMatchObject({ stage: 'removed' });
    await stage.stage.mend(sets.provider);
    expect(
      await stage.ctx.db
        .select()
        .from(vms)
        .where(eq(vms.id, newUnits[0]?.machine?.vmId ?? '')),
    ).toMatchObject([{ deletedAt: expect.any(Date) }]);
  });

  test('that its agent has fetched leaves, and is removed when the agent confirms it', async () => {
    const { unit, vmId } = await deployed('leaving');
    await remove(unit);
    await remove(unit);
    expect(await unitOf(unit)).toMatchObject({ life: 'dying', stage: 'leaving' });
    expect(await stage.look(vmId)).toMatchObject([{ unit, goal: 'leaving' }]);
    expect(await roleOf(vmId)).toMatchObject({ state: 'ready' });
    await confirmRemoval(stage.ctx, vmId, unit);
    expect(await unitOf(unit)).toMatchObject({ stage: 'removed' });
    expect(await stage.look(vmId)).toEqual([]);
    expect(await roleOf(vmId)).toMatchObject({ state: 'deleting' });
    await expect(remove(unit)).rejects.toMatchObject({ code: 'unit_unknown' });
  });

  test('EN-53 is removed by force, and others see it depart in the same transaction', async () => {
    const front = await deployed('front', web, { starts: true });
    const store = await deployed('store', db, { starts: true });
    await addRelation(stage.ctx, { model: sets.model, endpoints: ['front', 'store'] });
    expect((await stage.look(front.vmId))[0]?.relations[0]?.members).toMatchObject([{ unit: 'store/0' }]);
    await remove('store/0', true);
    expect(await unitOf('store/0')).toMatchObject({ stage: 'removed' });
    expect((await stage.look(front.vmId))[0]?.relations[0]?.members).toEqual([]);
    const rows = await stage.ctx.db.select().from(relationUnits);
    expect(rows.map(({ state }) => state).sort()).toEqual(['broken', 'in']);
    // The agent that comes back may not write for the unit.
    expect(await stage.look(store.vmId)).toEqual([]);
    await expect(stage.run(store, 'config-changed')).rejects.toThrow('store/0 is not on this VM');
    const end = { phase: 'end' as const, exitCode: 0, signal: null, timedOut: false, seconds: 1, output: '' };
    const name = { vmId: store.vmId, unit: 'store/0', run: front.vmId };
    await expect(endRun(stage.ctx, name, { ...end, views: [], reason: null })).rejects.toMatchObject({
      ...{ code: 'unit_gone' },
    });
  });

  test('EN-1 never has the number of an earlier unit, not even after its service is removed', async () => {
    await stage.declare(sets, 'again', { ...blog, units: 2 });
    await remove('again/1');
    await removeService(stage.ctx, { model: sets.model, service: 'again' });
    const { newUnits } = await stage.declare(sets, 'again', { ...blog });
    expect(newUnits.map(({ unit }) => unit)).toEqual(['again/2']);
  });
});

describe('a service', () => {
  test('ends with its last unit and its last relation', async () => {
    const front = await deployed('outer', web, { starts: true });
    const store = await deployed('inner', db, { starts: true });
    await addRelation(stage.ctx, { model: sets.model, endpoints: ['outer', 'inner'] });
    await removeService(stage.ctx, { model: sets.model, service: 'inner' });
    expect(await serviceOf('inner')).toMatchObject({ life: 'dying' });
    await confirmRemoval(stage.ctx, store.vmId, store.unit);
    // The unit of the other service still takes part in the relation.
    expect(await isGone('inner')).toBe(false);
    await removeService(stage.ctx, { model: sets.model, service: 'outer', force: true });
    expect([await isGone('inner'), await isGone('outer')]).toEqual([true, true]);
    expect(await unitOf(front.unit)).toMatchObject({ stage: 'removed' });
    const { items } = await listRelations(stage.ctx, { model: sets.model });
    expect(JSON.stringify(items)).not.toContain('"inner"');
  });

  test('that is being removed accepts neither changes nor units, and is removed by force', async () => {
    await deployed('stuck');
    await removeService(stage.ctx, { model: sets.model, service: 'stuck' });
    await expect(stage.declare(sets, 'stuck', { ...blog, units: 2 })).rejects.toMatchObject({ code: 'service_dying' });
    await removeService(stage.ctx, { model: sets.model, service: 'stuck', force: true });
    expect(await isGone('stuck')).toBe(true);
  });
});

describe('a machine', () => {
  test('with units is removed by force only, and stays in a model without availability sets', async () => {
    const off = await stage.stage.bootstrapped();
    const { vmId, machine, unit } = await deployed('single', blog, { staged: off });
    const input = { model: off.model, machine: machine ?? -1 };
    const rejected = removeMachine(stage.ctx, input);
    await expect(rejected).rejects.toMatchObject({ code: 'vm_has_units', params: { units: 'single/0' } });
    await removeUnit(stage.ctx, { model: off.model, unit, force: true });
    expect(await roleOf(vmId)).toMatchObject({ state: 'ready' });
    await stage.declare(off, 'single', { ...blog, units: 1, to: machine ?? -1 });
    await removeMachine(stage.ctx, { ...input, force: true });
    expect((await serviceOf('single', off)).units).toEqual([]);
    await stage.stage.mend(off.provider);
    expect(await roleOf(vmId)).toBeUndefined();
  });
});

describe('a model', () => {
  test('is destroyed after its units have left', async () => {
    const model = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
    const { unit, vmId } = await deployed('last', blog, { staged: model });
    await stage.declare(model, 'unseen', { ...blog });
    const input = { model: model.model, confirm: model.model };
    await destroyModel(stage.ctx, input);
    expect(await isGone('unseen', model)).toBe(true);
    await stage.stage.mend(model.provider);
    expect(await serviceOf('last', model)).toMatchObject({ life: 'dying', units: [{ unit, stage: 'leaving' }] });
    await confirmRemoval(stage.ctx, vmId, unit);
    await stage.stage.mend(model.provider);
    await expect(getModel(stage.ctx, { model: model.model })).rejects.toMatchObject({ code: 'model_unknown' });
  });

  test('is destroyed by force even if no agent responds', async () => {
    const model = await stage.stage.bootstrapped();
    await deployed('last', blog, { staged: model });
    await destroyModel(stage.ctx, { model: model.model, confirm: model.model, force: true });
    await stage.stage.mend(model.provider);
    await expect(getModel(stage.ctx, { model: model.model })).rejects.toMatchObject({ code: 'model_unknown' });
  });
});

test('units of VMs that were deleted are removed by the repair', async () => {
  const { newUnits } = await stage.declare(sets, 'orphan', { ...blog });
  const vmId = newUnits[0]?.machine?.vmId ?? '';
  await stage.ctx.db.update(vms).set({ deletedAt: stage.ctx.now }).where(eq(vms.id, vmId));
  const ctx = { ...stage.ctx, actor: systemActor, origin: systemOrigin };
  expect([await mendUnits(ctx), await mendUnits(ctx)]).toEqual([1, 0]);
  const [row] = await stage.ctx.db.select().from(units).where(eq(units.vmId, vmId));
  expect(row).toMatchObject({ removedAt: expect.any(Date) });
  expect(await stage.ctx.db.select().from(unitHeads).where(eq(unitHeads.vmId, vmId))).toEqual([]);
});
