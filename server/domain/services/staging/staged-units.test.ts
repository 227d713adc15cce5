import { and, eq } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { auditEntries, deployments, serviceSettings } from '#db/schema/index.ts';
import { faultsOf } from '#server/domain/topology/testing/faults.ts';
import { readActs } from '#server/testing/acts.ts';
import { longTest } from '#server/testing/long.ts';
import { addUnits, getUnit, mendUnits, removeUnit } from '../index.ts';
import { StagedWorld } from './testing/staged-world.ts';

let first: StagedWorld;
let world: StagedWorld;
let checked: StagedWorld | undefined;

beforeAll(async () => {
  first = await StagedWorld.open();
});

beforeEach(async () => {
  world = await first.next();
});

/** Switches to a world whose settings are checked. */
async function checkSettings(): Promise<void> {
  checked ??= await StagedWorld.open({ hasSchemas: true });
  world = await checked.next();
}

const show = (unit: string) => getUnit(world.stage.ctx, { model: world.model, unit });
const upgrade = (more: object) =>
  world.stage.declare(world.staged, 'mysql', { formula: 'Acme.Lab.mysql', version: '1.0', ...more });

/** Returns the settings that a unit has, as its hooks read them. */
async function settingsOf(unit: string) {
  const { settingsVersion: version } = await show(unit);
  const { rows } = await world.stage.ctx.db.execute<{ effective: unknown }>(
    `select t.effective from service_settings t join units u on u.service_id = t.service_id
      join models m on m.id = u.model_id where u.name = '${unit}' and m.name = '${world.model}' and t.version = ${version}`,
  );
  return rows[0]?.effective;
}

describe('units in Staging', () => {
  test('JU-4 are in a separate deployment in the cloud service of their service', async () => {
    await world.deploy('mysql', 2);
    const { units: added } = await world.add({ count: 2, slot: 'staging', version: '1.1' });
    expect(added.map(({ unit, machine }) => [unit, machine?.enrollmentToken.length])).toEqual([
      ['mysql/2', expect.any(Number)],
      ['mysql/3', expect.any(Number)],
    ]);
    const cloudService = await world.cloudService();
    const placed = await world.stage.ctx.db
      .select({ name: deployments.name, slot: deployments.slot })
      .from(deployments)
      .where(eq(deployments.cloudService, cloudService))
      .orderBy(deployments.name);
    expect(placed).toEqual([
      { name: `${cloudService}-v2`, slot: 'production' },
      { name: `${cloudService}-v3`, slot: 'staging' },
    ]);
    expect(await world.slots()).toEqual([
      'mysql/0 production 1.0.0.0',
      'mysql/1 production 1.0.0.0',
      'mysql/2 staging 1.1.0.0',
      'mysql/3 staging 1.1.0.0',
    ]);
    expect(world.staged.provider.calls.filter((call) => call.startsWith('deployment'))).toHaveLength(2);
    expect(await faultsOf(world.stage.ctx, world.model, world.staged.provider)).toEqual([]);
  });

  test('have no public address, which leads to Production', async () => {
    const [production] = await world.deploy('mysql', 1);
    const [staged] = await world.stageUnits(1);
    if (production === undefined || staged === undefined) throw new Error('units were added');
    const addressOf = async ({ vmId }: { vmId: string }) => (await world.stage.look(vmId))[0]?.addresses.public;
    expect(await addressOf(production)).toBe(`public address of ${await world.cloudService()}`);
    expect(await addressOf(staged)).toBeNull();
    expect([(await show('mysql/0')).publicAddress, (await show('mysql/1')).publicAddress]).toEqual([
      await addressOf(production),
      null,
    ]);
  });

  test('of a service without units get a cloud service, which has no Production yet', async () => {
    await world.deploy('mysql', 0);
    await world.stageUnits(1, '1.1');
    expect(await world.slots()).toEqual(['mysql/0 staging 1.1.0.0']);
    await expect(world.add({})).rejects.toMatchObject({ kind: 'conflict', code: 'production_empty' });
    await world.swap();
    await world.add({});
    expect(await world.slots()).toEqual(['mysql/0 production 1.1.0.0', 'mysql/1 production 1.1.0.0']);
    expect(await world.service()).toMatchObject({ version: '1.1.0.0', stagedVersion: null });
  });

  test('do not count in the number of units that is declared', async () => {
    await world.deploy('mysql', 2);
    await world.stageUnits(2);
    await upgrade({ units: 2 });
    expect(await world.slots()).toHaveLength(4);
    await upgrade({ units: 1 });
    expect((await world.service()).units.filter(({ life }) => life === 'dying').map(({ unit }) => unit)).toEqual([
      'mysql/1',
    ]);
  });

  test('leave nothing if the provider fails', async () => {
    await world.deploy('mysql', 1);
    world.staged.provider.fate = (step) => (step === 'deployment' ? 'failAfter' : 'succeed');
    await expect(world.add({ slot: 'staging' })).rejects.toMatchObject({ code: 'provider_failed' });
    world.staged.provider.fate = () => 'succeed';
    await world.stage.stage.mend(world.staged.provider);
    expect(await world.slots()).toEqual(['mysql/0 production 1.0.0.0']);
    expect(await faultsOf(world.stage.ctx, world.model, world.staged.provider)).toEqual([]);
    await world.stageUnits(1);
    expect(await world.slots()).toHaveLength(2);
  });
});

describe('the version of units in Staging', () => {
  test('is that of the service by default, and follows it', async () => {
    await world.deploy('mysql', 1);
    await world.stageUnits(1);
    await upgrade({ version: '1.1' });
    expect(await world.slots()).toEqual(['mysql/0 production 1.1.0.0', 'mysql/1 staging 1.1.0.0']);
  });

  longTest('stays while the service gets another version, and is that of units that are staged later', async () => {
    await world.deploy('mysql', 1);
    await world.stageUnits(1, '1.1');
    await upgrade({ settings: { title: 'Blog' }, version: '1.0' });
    await world.stageUnits(1);
    expect(await world.slots()).toEqual([
      ...['mysql/0 production 1.0.0.0', 'mysql/1 staging 1.1.0.0', 'mysql/2 staging 1.1.0.0'],
    ]);
    expect(await world.service()).toMatchObject({ version: '1.0.0.0', stagedVersion: '1.1.0.0' });
    expect(await mendUnits(world.stage.ctx)).toBe(0);
    expect((await world.slots())[1]).toBe('mysql/1 staging 1.1.0.0');
  });

  test('brings its own settings, also after the settings of the service change', async () => {
    await checkSettings();
    await world.deploy('mysql', 1);
    await world.stageUnits(1, '1.1');
    expect([await settingsOf('mysql/0'), await settingsOf('mysql/1')]).toEqual([
      { title: 'Shop' },
      { title: 'Shop', color: 'red' },
    ]);
    await upgrade({ settings: { title: 'Blog' } });
    expect([await settingsOf('mysql/0'), await settingsOf('mysql/1')]).toEqual([
      { title: 'Blog' },
      { title: 'Blog', color: 'red' },
    ]);
    await upgrade({ settings: { title: 'Books' }, upgrade: { atOnce: 'all' } });
    const versions = await world.stage.ctx.db
      .selectDistinct({ version: serviceSettings.version })
      .from(serviceSettings)
      .innerJoin(auditEntries, and(eq(auditEntries.targetId, world.model), eq(auditEntries.action, 'service.deploy')));
    expect(versions.length).toBeGreaterThan(4);
  });

  test('of all of them becomes another one with the next units', async () => {
    await world.deploy('mysql', 1);
    await world.stageUnits(1, '1.1');
    await world.stageUnits(1, '1.0');
    expect((await world.slots()).slice(1)).toEqual(['mysql/1 staging 1.0.0.0', 'mysql/2 staging 1.0.0.0']);
    expect(await world.service()).toMatchObject({ stagedVersion: null });
  });

  test('is in the activity', async () => {
    await world.deploy('mysql', 1);
    await world.stageUnits(1, '1.1');
    const [act] = await readActs(
      world.stage.ctx.db,
      and(eq(auditEntries.targetId, world.model), eq(auditEntries.action, 'service.update')),
    );
    expect(act).toMatchObject({ details: { service: 'mysql' }, after: { stagedVersion: '1.1.0.0' } });
  });
});

describe('a request is rejected, and changes nothing', () => {
  const invalid = (path: string, code: string) => ({
    ...{ kind: 'unprocessable', code: 'invalid', faults: [expect.objectContaining({ path, code })] },
  });

  test.each([
    ['a version without Staging', { version: '1.1' }, invalid('/version', 'staged_version_only')],
    [
      'a version in Production',
      { version: '1.1', slot: 'production' as const },
      invalid('/version', 'staged_version_only'),
    ],
    ['a machine in Staging', { slot: 'staging' as const, to: 3 }, invalid('/to', 'staged_unit_placement')],
    [
      'an unknown version',
      { slot: 'staging' as const, version: '9.0' },
      { kind: 'not_found', code: 'version_unknown' },
    ],
  ])('with %s', async (_, more, refusal) => {
    await world.deploy('mysql', 1);
    await expect(world.add(more)).rejects.toMatchObject(refusal);
    expect(await world.slots()).toEqual(['mysql/0 production 1.0.0.0']);
  });

  test('EN-77 with a version whose schema the settings do not fit', async () => {
    await checkSettings();
    await world.deploy('mysql', 1);
    await upgrade({ settings: { title: 'Blog' } });
    const refused = world.add({ slot: 'staging', version: '2.0' });
    await expect(refused).rejects.toMatchObject({ faults: [expect.objectContaining({ path: '/settings/title' })] });
    expect(await world.service()).toMatchObject({ stagedVersion: null, units: [{ unit: 'mysql/0' }] });
  });

  test('with a version that lacks an endpoint of a relation', async () => {
    await world.deploy('mysql', 1);
    await world.deploy('blog', 0);
    await world.relate();
    await expect(world.add({ slot: 'staging', version: '2.0' })).rejects.toMatchObject({
      code: 'formula_lacks_endpoint',
    });
    expect(await world.slots()).toHaveLength(1);
  });

  test('without availability sets, where each machine has its own cloud service', async () => {
    const off = await world.stage.stage.bootstrapped();
    await world.stage.declare(off, 'mysql', { formula: 'Acme.Lab.mysql', version: '1.0' });
    const input = { model: off.model, service: 'mysql', count: 1, slot: 'staging' as const };
    await expect(addUnits(world.stage.ctx, input, off.provider)).rejects.toMatchObject({
      ...{ kind: 'conflict', code: 'staging_unsupported' },
    });
  });
});

longTest('the last unit in Staging can go, and the next one has the version of the service', async () => {
  await world.deploy('mysql', 1);
  await world.stageUnits(1, '1.1');
  await removeUnit(world.stage.ctx, { model: world.model, unit: 'mysql/1', force: true });
  await world.stage.stage.mend(world.staged.provider);
  await world.stageUnits(1);
  expect(await world.slots()).toEqual(['mysql/0 production 1.0.0.0', 'mysql/2 staging 1.0.0.0']);
});
