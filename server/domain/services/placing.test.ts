import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { units, vmRoles } from '#db/schema/index.ts';
import { addMachine } from '#server/domain/topology/index.ts';
import { faultsOf } from '#server/domain/topology/testing/faults.ts';
import type { Staged } from '#server/domain/topology/testing/stage.ts';
import { addUnits, getService, getUnit } from './index.ts';
import { ServiceStage } from './testing/service-stage.ts';

let stage: ServiceStage;
let sets: Staged;
let off: Staged;
let blog: { formula: string; version: string };

beforeAll(async () => {
  stage = await ServiceStage.open();
  sets = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
  off = await stage.stage.bootstrapped();
  blog = await stage.formula('blog');
});

const add = ({ model, provider }: Staged, service: string, more: { count: number; to?: number }) =>
  addUnits(stage.ctx, { model, service, ...more }, provider);

describe('with availability sets', () => {
  test('JU-24 two requests at the same time that place first units create one cloud service', async () => {
    await stage.declare(sets, 'race', { ...blog, units: 0 });
    const added = await Promise.all([
      ...[add(sets, 'race', { count: 2 }), add(sets, 'race', { count: 2 }), add(sets, 'race', { count: 1 })],
    ]);
    const machines = added.flatMap((one) => one.units.map(({ machine }) => machine?.cloudService));
    expect([machines.length, new Set(machines).size]).toEqual([5, 1]);
    const { units: present } = await getService(stage.ctx, { model: sets.model, service: 'race' });
    expect(present.map(({ unit }) => unit)).toEqual([0, 1, 2, 3, 4].map((number) => `race/${number}`));
    expect(await faultsOf(stage.ctx, sets.model, sets.provider)).toEqual([]);
  });

  test('JU-8 no machine can be chosen', async () => {
    await stage.declare(sets, 'chosen', { ...blog, units: 0 });
    const rejected = add(sets, 'chosen', { count: 1, to: 0 });
    await expect(rejected).rejects.toMatchObject({ kind: 'conflict', code: 'unit_placement_unsupported' });
  });

  test.each(['cloudService', 'deployment', 'role', 'endpoints'] as const)(
    'JU-25 nothing of a unit remains if the provider fails at %s, and the units before it stay',
    async (failing) => {
      const service = `fails-${failing.toLowerCase()}`;
      const units = failing === 'role' ? 1 : 0;
      await stage.declare(sets, service, { ...blog, units });
      sets.provider.fate = (step) => (step === failing ? 'failAfter' : 'succeed');
      await expect(add(sets, service, { count: 1 })).rejects.toMatchObject({
        ...{ code: 'provider_failed', params: { step: failing } },
      });
      sets.provider.fate = () => 'succeed';
      await stage.stage.mend(sets.provider);
      const { units: present } = await getService(stage.ctx, { model: sets.model, service });
      expect(present).toHaveLength(units);
      expect(await getUnit(stage.ctx, { model: sets.model, unit: `${service}/${units}` })).toMatchObject({
        ...{ stage: 'removed' },
      });
      expect(await faultsOf(stage.ctx, sets.model, sets.provider)).toEqual([]);
      const again = await add(sets, service, { count: 1 });
      expect(again.units.map(({ unit }) => unit)).toEqual([`${service}/${units + 1}`]);
    },
  );

  test('a cloud service whose name is taken is drawn again, for the same unit', async () => {
    await stage.declare(sets, 'taken', { ...blog, units: 0 });
    let draws = 0;
    sets.provider.fate = (step) => {
      if (step === 'cloudService') draws += 1;
      return draws === 1 ? 'nameTaken' : 'succeed';
    };
    const added = await add(sets, 'taken', { count: 1 });
    sets.provider.fate = () => 'succeed';
    const { units: present } = await getService(stage.ctx, { model: sets.model, service: 'taken' });
    expect(present.map(({ unit }) => unit)).toEqual(added.units.map(({ unit }) => unit));
    await stage.stage.mend(sets.provider);
    expect(await faultsOf(stage.ctx, sets.model, sets.provider)).toEqual([]);
  });
});

describe('without availability sets', () => {
  test('a unit gets a new machine, or the chosen one, which can have several units', async () => {
    const { machine, vmId } = await addMachine(stage.ctx, { model: off.model }, off.provider);
    await stage.declare(off, 'wiki', { ...blog, units: 2, to: machine });
    await stage.declare(off, 'shop', { ...blog, units: 1 });
    const wiki = await getService(stage.ctx, { model: off.model, service: 'wiki' });
    expect(wiki.units.map((unit) => unit.vmId)).toEqual([vmId, vmId]);
    const shop = await getService(stage.ctx, { model: off.model, service: 'shop' });
    expect(shop.units[0]?.vmId).not.toBe(vmId);
  });

  test('each act takes a later turn of the VM', async () => {
    const { machine, vmId } = await addMachine(stage.ctx, { model: off.model }, off.provider);
    await stage.declare(off, 'turns', { ...blog, units: 3, to: machine });
    const rows = await stage.ctx.db.select().from(units).where(eq(units.vmId, vmId)).orderBy(units.number);
    const turns = rows.map(({ turn }) => turn);
    expect(turns).toEqual([...new Set(turns)].sort((a, b) => a - b));
  });

  test('a machine must be in the model, stay, and be no controller', async () => {
    await stage.declare(off, 'nowhere', { ...blog, units: 0 });
    const { machine, vmId } = await addMachine(stage.ctx, { model: off.model }, off.provider);
    await stage.ctx.db.update(vmRoles).set({ state: 'deleting' }).where(eq(vmRoles.vmId, vmId));
    for (const to of [999, machine]) {
      const rejected = add(off, 'nowhere', { count: 1, to });
      await expect(rejected).rejects.toMatchObject({ kind: 'unprocessable', code: 'placement_unknown' });
    }
  });

  test('a VM has at most 64 units', async () => {
    const { machine } = await addMachine(stage.ctx, { model: off.model }, off.provider);
    await stage.declare(off, 'crowd', { ...blog, units: 64, to: machine });
    const rejected = add(off, 'crowd', { count: 1, to: machine });
    await expect(rejected).rejects.toMatchObject({ code: 'units_too_many', params: { limit: 64 } });
  });
});
