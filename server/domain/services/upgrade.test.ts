import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { units } from '#db/schema/index.ts';
import type { Staged } from '#server/domain/topology/testing/stage.ts';
import { addRelation, getService, mendUnits, removeUnit } from './index.ts';
import { ServiceStage } from './testing/service-stage.ts';

let stage: ServiceStage;
let sets: Staged;
let formula: string;

beforeAll(async () => {
  stage = await ServiceStage.open();
  sets = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
  ({ formula } = await stage.formula('blog'));
  await stage.formula('blog', '1.1.0.0');
});

const unitsOf = async (service: string) => (await getService(stage.ctx, { model: sets.model, service })).units;
const versionsOf = async (service: string) => (await unitsOf(service)).map(({ version }) => version);

/** Deploys a service with units that have started. */
async function started(service: string, units: number) {
  const { units: deployed } = await stage.deploy(sets, service, { formula, version: '1.0', units });
  for (const unit of deployed) await stage.start(unit);
  return deployed;
}

/** Runs the hooks of an upgrade of one unit. */
async function confirm(unit: { unit: string; vmId: string }) {
  await stage.run(unit, 'upgrade-formula');
  await stage.run(unit, 'config-changed');
}

describe('an upgrade', () => {
  test('EN-56 goes from unit to unit, each after the one before has confirmed it', async () => {
    const [first, second] = await started('rolling', 3);
    if (first === undefined || second === undefined) throw new Error('three units were declared');
    await stage.declare(sets, 'rolling', { formula, version: '1.1' });
    expect(await versionsOf('rolling')).toEqual(['1.1.0.0', '1.0.0.0', '1.0.0.0']);
    expect((await unitsOf('rolling')).map((unit) => unit.stage)).toEqual(['upgrading', 'started', 'started']);
    await stage.run(first, 'upgrade-formula');
    expect(await versionsOf('rolling')).toEqual(['1.1.0.0', '1.0.0.0', '1.0.0.0']);
    await stage.run(first, 'config-changed');
    expect(await versionsOf('rolling')).toEqual(['1.1.0.0', '1.1.0.0', '1.0.0.0']);
    await stage.run(second, 'upgrade-formula', 1);
    expect(await versionsOf('rolling')).toEqual(['1.1.0.0', '1.1.0.0', '1.0.0.0']);
  });

  test('EN-57 is undone by the earlier version, beginning with the unit that failed', async () => {
    const [first, second] = await started('undone', 2);
    if (first === undefined || second === undefined) throw new Error('two units were declared');
    await stage.declare(sets, 'undone', { formula, version: '1.1' });
    await stage.run(first, 'upgrade-formula', 1);
    await stage.declare(sets, 'undone', { formula, version: '1.0' });
    expect(await versionsOf('undone')).toEqual(['1.0.0.0', '1.0.0.0']);
  });

  test('EN-56 continues with the next unit if the one that changes is removed, or its process ended', async () => {
    const [first, second] = await started('removed', 3);
    if (first === undefined || second === undefined) throw new Error('three units were declared');
    await stage.declare(sets, 'removed', { formula, version: '1.1' });
    await removeUnit(stage.ctx, { model: sets.model, unit: first.unit, force: true });
    expect(await versionsOf('removed')).toEqual(['1.1.0.0', '1.0.0.0']);
    // The portal's process ends after the hook is stored, and before the next unit gets the version.
    const { record } = (await stage.ctx.db.select().from(units).where(eq(units.name, second.unit)))[0] ?? {};
    if (record === undefined) throw new Error('the unit was stored');
    const configured = { formula: '1.1.0.0', settings: 1, boot: 'boot-1' };
    const confirmed = { ...record, formula: '1.1.0.0', configured };
    await stage.ctx.db.update(units).set({ record: confirmed }).where(eq(units.name, second.unit));
    await mendUnits(stage.ctx);
    expect(await versionsOf('removed')).toEqual(['1.1.0.0', '1.1.0.0']);
  });

  test('does not stop because of a hook that failed and is no longer due', async () => {
    const [first, second] = await started('stale', 3);
    if (first === undefined || second === undefined) throw new Error('three units were declared');
    const failure = { hook: 'db-relation-changed', run: second.vmId, failures: 3, outcome: 'failed' as const };
    const failing = { 99: { ...failure, exitCode: 1, since: new Date().toISOString(), remoteUnit: 'gone/0' } };
    await stage.ctx.db.update(units).set({ failing }).where(eq(units.name, first.unit));
    await stage.declare(sets, 'stale', { formula, version: '1.1', upgrade: { atOnce: 2 } });
    expect(await versionsOf('stale')).toEqual(['1.1.0.0', '1.1.0.0', '1.0.0.0']);
    await confirm(second);
    expect(await versionsOf('stale')).toEqual(['1.1.0.0', '1.1.0.0', '1.1.0.0']);
  });

  test('stops at a hook that fails and is due, whatever the limit is', async () => {
    const [first, second] = await started('stopped', 3);
    if (first === undefined || second === undefined) throw new Error('three units were declared');
    await stage.declare(sets, 'stopped', { formula, version: '1.1', upgrade: { atOnce: 2 } });
    await stage.run(first, 'upgrade-formula', 1);
    await confirm(second);
    expect(await versionsOf('stopped')).toEqual(['1.1.0.0', '1.1.0.0', '1.0.0.0']);
  });

  test('reaches all units if that is declared, and units that have not started immediately', async () => {
    const [first] = await started('hasty', 2);
    if (first === undefined) throw new Error('two units were declared');
    await stage.declare(sets, 'hasty', { formula, version: '1.0', units: 3 });
    await stage.declare(sets, 'hasty', { formula, version: '1.1' });
    expect(await versionsOf('hasty')).toEqual(['1.1.0.0', '1.0.0.0', '1.1.0.0']);
    await confirm(first);
    await stage.declare(sets, 'hasty', { formula, version: '1.0', upgrade: { atOnce: 'all' } });
    expect(await versionsOf('hasty')).toEqual(['1.0.0.0', '1.0.0.0', '1.0.0.0']);
  });

  test('gives each unit a later turn, and its agent the new goal', async () => {
    const [unit] = await started('turns', 1);
    if (unit === undefined) throw new Error('a unit was declared');
    const [before] = await stage.look(unit.vmId);
    await stage.declare(sets, 'turns', { formula, version: '1.1', settings: { a: 1 } });
    const [after] = await stage.look(unit.vmId);
    expect(after).toMatchObject({ settingsVersion: 2, formula: { version: '1.1.0.0' } });
    expect(after?.turn).toBeGreaterThan(before?.turn ?? 0);
  });
});

describe('a version is rejected before anything changes', () => {
  test('EN-57 if its schema does not accept the settings', async () => {
    const closed = { type: 'object', properties: { b: {} }, additionalProperties: false };
    await stage.formula('blog', '2.0.0.0', { settingsSchema: { publicSettings: closed } });
    await stage.declare(sets, 'settled', { formula, version: '1.0', units: 0, settings: { a: 1 } });
    const before = await getService(stage.ctx, { model: sets.model, service: 'settled' });
    const change = stage.declare(sets, 'settled', { formula, version: '2.0', units: 2 });
    await expect(change).rejects.toMatchObject({ code: 'invalid', faults: [{ path: '/settings/a' }] });
    expect(await getService(stage.ctx, { model: sets.model, service: 'settled' })).toEqual(before);
  });

  test('if it lacks an endpoint that a relation uses', async () => {
    const web = await stage.formula('web', '1.0.0.0', { metadata: { requires: { db: { interface: 'mysql' } } } });
    await stage.formula('web', '2.0.0.0', { metadata: { requires: { db: { interface: 'postgres' } } } });
    const db = await stage.formula('mysql', '1.0.0.0', { metadata: { provides: { db: { interface: 'mysql' } } } });
    await stage.declare(sets, 'web', { ...web, units: 0 });
    await stage.declare(sets, 'mysql', { ...db, units: 0 });
    await addRelation(stage.ctx, { model: sets.model, endpoints: ['web', 'mysql'] });
    const change = stage.declare(sets, 'web', { ...web, version: '2.0' });
    await expect(change).rejects.toMatchObject({ code: 'formula_lacks_endpoint', params: { endpoint: 'web:db' } });
  });
});
