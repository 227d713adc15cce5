import { beforeAll, expect, test } from 'vitest';
import { type NewMachine, renewToken } from '#server/domain/topology/index.ts';
import type { Staged } from '#server/domain/topology/testing/stage.ts';
import { addRelation, getService, getUnit, removeUnit } from './index.ts';
import { ServiceStage } from './testing/service-stage.ts';

let stage: ServiceStage;
let sets: Staged;

beforeAll(async () => {
  stage = await ServiceStage.open();
  sets = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
});

/** Enrolls another machine for the VM of a machine. */
async function enrollAnother(machine: NewMachine): Promise<void> {
  const { enrollmentToken } = await renewToken(stage.ctx, { vmId: machine.vmId });
  await stage.enroll({ ...machine, enrollmentToken });
}

const namesOf = async (service: string) =>
  (await getService(stage.ctx, { model: sets.model, service })).units.map(({ unit }) => unit);

test('EN-54 after another machine enrolled, its units have new numbers, and others see the previous ones depart', async () => {
  const web = await stage.formula('web', '1.0.0.0', { metadata: { requires: { db: { interface: 'mysql' } } } });
  const db = await stage.formula('mysql', '1.0.0.0', { metadata: { provides: { db: { interface: 'mysql' } } } });
  const front = await stage.deploy(sets, 'front', web);
  const store = await stage.deploy(sets, 'store', db);
  for (const unit of [...front.units, ...store.units]) await stage.start(unit);
  await addRelation(stage.ctx, { model: sets.model, endpoints: ['front', 'store'] });
  const [machine] = store.newUnits.map((added) => added.machine);
  if (!machine) throw new Error('a machine was created');
  await enrollAnother(machine);
  expect(await namesOf('store')).toEqual(['store/1']);
  expect(await getUnit(stage.ctx, { model: sets.model, unit: 'store/0' })).toMatchObject({ stage: 'removed' });
  expect(await getUnit(stage.ctx, { model: sets.model, unit: 'store/1' })).toMatchObject({
    ...{ stage: 'installing', vmId: machine.vmId, instanceId: machine.instanceId },
  });
  expect((await stage.look(front.units[0]?.vmId ?? ''))[0]?.relations[0]?.members).toEqual([]);
});

test('a unit that no machine has fetched stays, and one that leaves is not replaced', async () => {
  const blog = await stage.formula('blog');
  const { newUnits } = await stage.declare(sets, 'unseen', { ...blog });
  const [machine] = newUnits.map((added) => added.machine);
  if (!machine) throw new Error('a machine was created');
  await enrollAnother(machine);
  expect(await namesOf('unseen')).toEqual(['unseen/0']);
  await removeUnit(stage.ctx, { model: sets.model, unit: 'unseen/0' });
  await enrollAnother(machine);
  expect(await namesOf('unseen')).toEqual([]);
});
