import { isNull } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { units } from '#db/schema/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { faultsOf } from '#server/domain/topology/testing/faults.ts';
import type { Staged } from '#server/domain/topology/testing/stage.ts';
import { addUnits, confirmRemoval, getService, mendUnits, removeService, removeUnit } from './index.ts';
import { ServiceStage } from './testing/service-stage.ts';

let stage: ServiceStage;
let blog: { formula: string; version: string };

beforeAll(async () => {
  stage = await ServiceStage.open();
  blog = await stage.formula('blog');
  await stage.formula('blog', '1.1.0.0');
});

const bootstrapped = () => stage.stage.bootstrapped({ availabilitySetsEnabled: true });

/** Waits for all acts. Returns the codes of those that were rejected; any other error fails the test. */
async function together(acts: readonly Promise<unknown>[]): Promise<string[]> {
  const ended = await Promise.allSettled(acts);
  return ended.flatMap((end) => {
    if (end.status === 'fulfilled') return [];
    if (end.reason instanceof DomainError) return [end.reason.code];
    throw end.reason;
  });
}

const add = ({ model, provider }: Staged, service: string, count: number) =>
  addUnits(stage.ctx, { model, service, count }, provider);
const present = async () => stage.ctx.db.select().from(units).where(isNull(units.removedAt));

test('units that two people add while others are removed have different numbers, and one cloud service', async () => {
  const staged = await bootstrapped();
  const { model } = staged;
  await stage.declare(staged, 'busy', { ...blog, units: 3 });
  const remove = (number: number) => removeUnit(stage.ctx, { model, unit: `busy/${number}` });
  const rejected = await together([add(staged, 'busy', 4), remove(0), add(staged, 'busy', 4), remove(1), remove(2)]);
  expect(rejected).toEqual([]);
  const { units: left } = await getService(stage.ctx, { model, service: 'busy' });
  expect(left.map(({ number }) => number)).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
  expect(new Set(left.map(({ instanceId }) => instanceId?.split('-juju')[0])).size).toBe(1);
  await stage.stage.mend(staged.provider);
  expect(await faultsOf(stage.ctx, model, staged.provider)).toEqual([]);
});

test('a service that is declared by several requests has as many units as each of them says', async () => {
  const staged = await bootstrapped();
  const declare = () => stage.declare(staged, 'twin', { ...blog, units: 3 });
  const declared = await Promise.all([declare(), declare(), declare()]);
  const added = declared.flatMap(({ newUnits }) => newUnits.map(({ unit }) => unit));
  expect(added.sort()).toEqual(['twin/0', 'twin/1', 'twin/2']);
  const { units: present } = await getService(stage.ctx, { model: staged.model, service: 'twin' });
  expect(present.map(({ number }) => number)).toEqual([0, 1, 2]);
  await stage.stage.mend(staged.provider);
  expect(await faultsOf(stage.ctx, staged.model, staged.provider)).toEqual([]);
});

test('of a service that is removed while units are added, nothing is left', async () => {
  const staged = await bootstrapped();
  const { model } = staged;
  await stage.declare(staged, 'short', { ...blog, units: 1 });
  const rejected = await together([
    ...[add(staged, 'short', 5), removeService(stage.ctx, { model, service: 'short' }), add(staged, 'short', 5)],
  ]);
  expect(new Set(rejected)).toEqual(new Set(rejected.length === 0 ? [] : ['service_unknown']));
  await removeService(stage.ctx, { model, service: 'short', force: true }).catch(() => null);
  await mendUnits(stage.ctx);
  await stage.stage.mend(staged.provider);
  await expect(getService(stage.ctx, { model, service: 'short' })).rejects.toMatchObject({ code: 'service_unknown' });
  expect(staged.provider.services.size).toBe(0);
  expect(await faultsOf(stage.ctx, model, staged.provider)).toEqual([]);
});

test('the service ends although its last units are removed at the same time', async () => {
  const staged = await bootstrapped();
  const { model } = staged;
  const { units: deployed } = await stage.deploy(staged, 'ending', { ...blog, units: 4 });
  await removeService(stage.ctx, { model, service: 'ending' });
  expect(await together(deployed.map(({ vmId, unit }) => confirmRemoval(stage.ctx, vmId, unit)))).toEqual([]);
  await expect(getService(stage.ctx, { model, service: 'ending' })).rejects.toMatchObject({ code: 'service_unknown' });
});

test('agents end hooks while a person declares other versions and removes units', async () => {
  const staged = await bootstrapped();
  const { model } = staged;
  const { units: deployed } = await stage.deploy(staged, 'hectic', { ...blog, units: 4 });
  for (const unit of deployed) await stage.start(unit);
  for (const version of ['1.1', '1.0', '1.1']) {
    const runs = deployed.slice(0, 3).map((unit) => stage.run(unit, 'config-changed'));
    const declared = stage.declare(staged, 'hectic', {
      ...blog,
      version,
      settings: { version },
      upgrade: { atOnce: 'all' },
    });
    expect(await together([...runs, declared])).toEqual([]);
  }
  const [last] = deployed.slice(3);
  if (last === undefined) throw new Error('four units were declared');
  const removal = removeUnit(stage.ctx, { model, unit: last.unit, force: true });
  expect(await together([...deployed.slice(0, 3).map((unit) => stage.run(unit, 'upgrade-formula')), removal])).toEqual(
    [],
  );
  const rows = (await present()).filter(({ name }) => name.startsWith('hectic/'));
  expect(rows.map(({ formulaVersion }) => formulaVersion)).toEqual(['1.1.0.0', '1.1.0.0', '1.1.0.0']);
});
