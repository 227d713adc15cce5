import { v7 as uuid } from 'uuid';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Staged } from '#server/domain/topology/testing/stage.ts';
import { getUnit, resolveModel, resolveUnit, skipHooks } from './index.ts';
import { ServiceStage } from './testing/service-stage.ts';

let stage: ServiceStage;
let sets: Staged;
let blog: { formula: string; version: string };

beforeAll(async () => {
  stage = await ServiceStage.open();
  sets = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
  blog = await stage.formula('blog');
});

const unitOf = (unit: string) => getUnit(stage.ctx, { model: sets.model, unit });
const resolve = (unit: string, run: string, retry: boolean) =>
  resolveUnit(stage.ctx, { model: sets.model, unit, run, retry });

/** Deploys a service with one unit whose `install` fails. */
async function failing(service: string) {
  const { units } = await stage.deploy(sets, service, blog);
  const [unit] = units;
  if (unit === undefined) throw new Error('a unit was declared');
  return { unit, run: await stage.run(unit, 'install', 1) };
}

describe('a hook that fails', () => {
  test('is shown with its run, and is run again by the decision of an operator', async () => {
    const { unit, run } = await failing('retried');
    expect(await unitOf(unit.unit)).toMatchObject({
      failing: [{ hook: 'install', run, failures: 1, outcome: 'failed', exitCode: 1, resolution: null }],
    });
    const [before] = await stage.look(unit.vmId);
    expect(await resolve(unit.unit, run, true)).toEqual({ resolved: [{ unit: unit.unit, hook: 'install', run }] });
    const [after] = await stage.look(unit.vmId);
    expect(after?.resolution).toEqual({ run, how: 'retry' });
    expect(after?.turn).toBeGreaterThan(before?.turn ?? 0);
    expect((await unitOf(unit.unit)).failing).toMatchObject([{ resolution: 'retry' }]);
    await stage.run(unit, 'install');
    expect(await unitOf(unit.unit)).toMatchObject({ failing: [], confirmedVersion: '1.0.0.0' });
    expect((await stage.look(unit.vmId))[0]?.resolution).toBeNull();
  });

  test('is decided once, however often it is requested', async () => {
    const { unit, run } = await failing('clicked');
    await resolve(unit.unit, run, true);
    const [once] = await stage.look(unit.vmId);
    await Promise.all(Array.from({ length: 10 }, () => resolve(unit.unit, run, true)));
    expect((await stage.look(unit.vmId))[0]?.turn).toBe(once?.turn);
  });

  test('EN-49 that is skipped counts as done, and leaves a mark', async () => {
    const { unit, run } = await failing('skipped');
    await resolve(unit.unit, run, false);
    const name = { vmId: unit.vmId, unit: unit.unit };
    await skipHooks(stage.ctx, name, { skipped: [{ hook: 'install', formula: '1.0.0.0', run }] });
    expect(await unitOf(unit.unit)).toMatchObject({
      ...{ failing: [], confirmedVersion: '1.0.0.0', stage: 'configuring' },
      skipped: [{ hook: 'install', version: '1.0.0.0', by: stage.ctx.actor.name }],
    });
  });
});

describe('EN-50 a decision is rejected', () => {
  test('for an earlier failure, and changes nothing', async () => {
    const { unit, run } = await failing('newer');
    const newer = await stage.run(unit, 'install', 2);
    const rejected = resolve(unit.unit, run, false);
    await expect(rejected).rejects.toMatchObject({ kind: 'conflict', code: 'run_not_failing' });
    expect((await unitOf(unit.unit)).failing).toMatchObject([{ run: newer, resolution: null }]);
  });

  test('for a run that succeeded, of another unit, and that is unknown', async () => {
    const { unit } = await failing('one');
    const other = await failing('other');
    const succeeded = await stage.run(unit, 'install');
    await expect(resolve(unit.unit, succeeded, true)).rejects.toMatchObject({ code: 'run_not_failing' });
    await expect(resolve(unit.unit, other.run, true)).rejects.toMatchObject({ kind: 'not_found', code: 'run_unknown' });
    await expect(resolve(unit.unit, uuid(), true)).rejects.toMatchObject({ kind: 'not_found', code: 'run_unknown' });
    await expect(resolve('none/0', uuid(), true)).rejects.toMatchObject({ code: 'unit_unknown' });
    await expect(resolve('none/00', uuid(), true)).rejects.toMatchObject({ faults: [{ code: 'unit_name_form' }] });
  });
});

test('hooks of several relations that fail on one unit are decided on independently', async () => {
  const { unit, run } = await failing('several');
  const second = { hook: 'db-relation-joined', run: uuid(), failures: 1, outcome: 'failed', exitCode: 1 };
  const since = new Date().toISOString();
  await stage.ctx.db.execute(`update units set failing = failing || '${JSON.stringify({ 7: { ...second, since } })}'::jsonb
    where name = '${unit.unit}'`);
  await resolve(unit.unit, run, true);
  await resolve(unit.unit, second.run, false);
  const [goal] = await stage.look(unit.vmId);
  expect(goal?.resolutions).toEqual([
    { run, how: 'retry' },
    { run: second.run, how: 'skip' },
  ]);
  const decided = (await unitOf(unit.unit)).failing.map(({ hook, resolution }) => `${hook} ${resolution}`);
  expect(decided.toSorted()).toEqual(['db-relation-joined skip', 'install retry']);
  await resolve(unit.unit, second.run, true);
  expect((await stage.look(unit.vmId))[0]?.resolutions).toHaveLength(2);
  const { resolved } = await resolveModel(stage.ctx, { model: sets.model, service: 'several', retry: false });
  expect(resolved.map(({ hook }) => hook)).toEqual(['install', 'db-relation-joined']);
});

test('everything that fails in a service or a model is decided together', async () => {
  const model = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
  for (const service of ['left', 'right']) {
    const { units } = await stage.deploy(model, service, { ...blog, units: 2 });
    for (const unit of units) await stage.run(unit, 'install', 1);
  }
  const decide = async (more: object) => {
    const { resolved } = await resolveModel(stage.ctx, { model: model.model, retry: true, ...more });
    return resolved.map(({ unit }) => unit).sort();
  };
  expect(await decide({ service: 'left' })).toEqual(['left/0', 'left/1']);
  expect(await decide({})).toEqual(['left/0', 'left/1', 'right/0', 'right/1']);
  await expect(decide({ service: 'none' })).rejects.toMatchObject({ code: 'service_unknown' });
});
