import { and, eq, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditEntries, changes, units } from '#db/schema/index.ts';
import { addMachine } from '#server/domain/topology/index.ts';
import type { Staged } from '#server/domain/topology/testing/stage.ts';
import { readActs } from '#server/testing/acts.ts';
import { addUnits, getUnit, removeService, removeUnit } from '../index.ts';
import { ServiceStage } from '../testing/service-stage.ts';

let stage: ServiceStage;
let off: Staged;
let other: Staged;
let blog: { formula: string; version: string };
let machine: number;
let vmId: string;

beforeAll(async () => {
  stage = await ServiceStage.open();
  [off, other] = [await stage.stage.bootstrapped(), await stage.stage.bootstrapped()];
  blog = await stage.formula('blog');
  ({ machine, vmId } = await addMachine(stage.ctx, { model: off.model }, off.provider));
});

const add = async (service: string, count = 1) => {
  const added = await addUnits(stage.ctx, { model: off.model, service, count, to: machine }, off.provider);
  return added.units.map(({ unit }) => unit);
};
const declare = (service: string, more: object = {}) => stage.declare(off, service, { ...blog, units: 0, ...more });
const remove = (unit: string) => removeUnit(stage.ctx, { model: off.model, unit });

describe('EN-1 the number of a unit', () => {
  test('is the next one, and is not used again, whichever unit was removed', async () => {
    await declare('counted');
    expect(await add('counted', 3)).toEqual(['counted/0', 'counted/1', 'counted/2']);
    await remove('counted/1');
    expect(await add('counted')).toEqual(['counted/3']);
    await remove('counted/3');
    await remove('counted/0');
    expect(await add('counted', 2)).toEqual(['counted/4', 'counted/5']);
  });

  test('continues in a later service of the same name, even with another formula', async () => {
    await declare('again');
    await add('again', 2);
    await removeService(stage.ctx, { model: off.model, service: 'again' });
    const { formula, version } = await stage.formula('other');
    await declare('again', { formula, version });
    expect(await add('again')).toEqual(['again/2']);
    const former = await getUnit(stage.ctx, { model: off.model, unit: 'again/1' });
    expect(former).toMatchObject({ stage: 'removed', formula: blog.formula });
  });

  test('is counted separately for each service and each model', async () => {
    await declare('shop');
    await declare('shops');
    expect(await add('shop', 2)).toEqual(['shop/0', 'shop/1']);
    expect(await add('shops')).toEqual(['shops/0']);
    const { newUnits } = await stage.declare(other, 'shop', { ...blog });
    expect(newUnits.map(({ unit }) => unit)).toEqual(['shop/0']);
  });

  test('is given once, even to units that are added at the same time', async () => {
    await declare('together');
    const added = await Promise.all([add('together', 2), add('together', 2), add('together')]);
    expect(added.flat().sort()).toEqual([0, 1, 2, 3, 4].map((number) => `together/${number}`));
    const rows = await stage.ctx.db.select().from(units).where(sql`name like 'together/%'`);
    expect(new Set(rows.map(({ turn }) => turn)).size, 'each has its own turn of the VM').toBe(5);
  });
});

describe('a new unit', () => {
  test('has the service’s versions, and nothing that hooks confirmed', async () => {
    await declare('fresh', { settings: { a: 1 } });
    await declare('fresh', { settings: { a: 2 } });
    await add('fresh');
    expect(await getUnit(stage.viewer, { model: off.model, unit: 'fresh/0' })).toMatchObject({
      ...{ number: 0, service: 'fresh', life: 'alive', stage: 'placed', version: '1.0.0.0', settingsVersion: 2 },
      ...{ confirmedVersion: null, confirmedSettingsVersion: null, ports: [], failing: [], skipped: [], vmId, machine },
      ...{ agentSince: null, enteredAt: null, dyingSince: null, removedAt: null, createdBy: stage.ctx.actor.name },
    });
  });

  test('is noted in the activity log and on the page of its VM', async () => {
    await declare('noted');
    const last = await stage.ctx.db.$count(changes, and(eq(changes.topic, 'vm'), eq(changes.key, vmId)));
    await add('noted', 2);
    const entries = await readActs(stage.ctx.db, eq(auditEntries.action, 'unit.add'));
    const details = entries.map((entry) => entry.details).filter((one) => JSON.stringify(one).includes('noted'));
    expect(details).toEqual([{ unit: 'noted/0' }, { unit: 'noted/1' }]);
    const now = await stage.ctx.db.$count(changes, and(eq(changes.topic, 'vm'), eq(changes.key, vmId)));
    expect(now).toBeGreaterThan(last);
  });
});

test('a service has at most 1,000 units; those that were removed do not count', async () => {
  await declare('many');
  await add('many', 2);
  await remove('many/1');
  await stage.ctx.db.execute(sql`
    insert into units select (jsonb_populate_record(u, jsonb_build_object('id', gen_random_uuid(),
        'name', 'many/' || n, 'number', n, 'vm_id', v.id))).*
      from units u, generate_series(5001, 5998) n, (select id from vms where id <> ${vmId} limit 1) v
     where u.name = 'many/0' and u.model_id = (select id from models where name = ${off.model})`);
  const limit = { kind: 'conflict', code: 'units_too_many', params: { limit: 1_000 } };
  await expect(add('many', 2)).rejects.toMatchObject(limit);
  expect(await add('many')).toEqual(['many/2']);
  await expect(add('many')).rejects.toMatchObject(limit);
  await expect(declare('many', { units: 1_001 })).rejects.toMatchObject({ faults: [{ code: 'field_too_big' }] });
});

test.each([
  ['a service that does not exist', 'absent', 'service_unknown'],
  ['a service that is being removed', 'dying', 'service_dying'],
])('units are not added to %s', async (_, service, code) => {
  if (service === 'dying') {
    await declare('dying');
    await stage.ctx.db.execute(sql`update services set life = 'dying' where name = 'dying'`);
  }
  await expect(add(service)).rejects.toMatchObject({ code });
});
