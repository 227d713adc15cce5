import { beforeAll, describe, expect, test } from 'vitest';
import { faultsOf, planned } from '../document/testing/paper-model.ts';
import { applyDocument, destroyModel, getDocument, planDocument } from '../index.ts';
import { StagedWorld } from './testing/staged-world.ts';

const web = { formula: 'Acme.Lab.web', version: '1.0' };
const store = { formula: 'Acme.Lab.store', version: '1.0' };

describe('the plan of a document with units in Staging', () => {
  test('names them with their version and their hooks, and no hook for a unit in Staging that is required', () => {
    const model = {
      services: { store: { formula: 'store', units: [0] }, web: { formula: 'web', units: [1] } },
    } as const;
    const given = {
      ...model,
      relations: [['web:db', 'store:db']] as [string, string][],
      started: ['store/0', 'web/0'],
    };
    const services = {
      store: { ...store, staging: { units: 1, version: '1.1' } },
      web: { ...web, staging: { units: 1 } },
    };
    const { acts, hooks, machines } = planned(given as never, { services, relations: [['web', 'store']] });
    expect(acts).toMatchObject([
      { kind: 'stage', service: 'store', path: '/services/store/staging/version', from: null, to: '1.1' },
      {
        kind: 'addUnits',
        service: 'store',
        slot: 'staging',
        path: '/services/store/staging/units',
        units: [{ unit: 'store/1' }],
      },
      { kind: 'addUnits', service: 'web', slot: 'staging', units: [{ unit: 'web/1' }] },
    ]);
    expect(machines).toEqual([2, 3]);
    expect(
      hooks.map(({ unit, hooks: own }) => [unit, own.map(({ hook, remoteUnits }) => [hook, ...remoteUnits].join(' '))]),
    ).toEqual([
      ['store/0', ['db-relation-joined web/1']],
      ['store/1', ['install', 'config-changed', 'start']],
      ['web/1', ['install', 'config-changed', 'start', 'db-relation-joined store/0']],
    ]);
  });

  test('counts units of each slot on their own, and leaves out what the document does not name', () => {
    const given = {
      services: { store: { formula: 'store' as const, units: [0, 1, 2] } },
      staged: ['store/1', 'store/2'],
    };
    const leftOut = (staging: object | undefined, units?: number) =>
      planned(given, { services: { store: { ...store, units, staging } } }).left.units;
    expect(leftOut({ units: 2 }, 1)).toEqual([]);
    expect(leftOut({ units: 1 })).toEqual(['store/2']);
    expect(leftOut(undefined)).toEqual(['store/1', 'store/2']);
    expect(leftOut({ units: 2 }, 0)).toEqual(['store/0']);
  });

  test('is rejected without availability sets, and for Production that a swap left empty', () => {
    const staging = { services: { store: { ...store, staging: { units: 1 } } } };
    expect(faultsOf({ availabilitySetsEnabled: false }, staging)).toEqual([
      '/services/store/staging staging_unsupported',
    ]);
    const moved = { services: { store: { formula: 'store' as const, units: [0] } }, staged: ['store/0'] };
    expect(faultsOf(moved, { services: { store: { ...store, units: 1 } } })).toEqual([
      '/services/store/units production_empty',
    ]);
  });
});

describe('a document with units in Staging', () => {
  let world: StagedWorld;
  beforeAll(async () => {
    world = await StagedWorld.open();
  });

  const apply = (document: unknown, prune = false) =>
    applyDocument(world.stage.ctx, { model: world.model, document, prune }, world.staged.provider);

  test('JU-39 is exported, changes nothing where it came from, and makes the same model again', async () => {
    await world.deploy('mysql', 2);
    await world.stageUnits(1, '1.1');
    await world.swap();
    const { document } = await getDocument(world.stage.ctx, { model: world.model });
    expect(document.services.mysql).toEqual({
      ...{ formula: 'Acme.Lab.mysql', version: '1.1.0.0', units: 1, staging: { units: 2, version: '1.0.0.0' } },
    });
    expect(await planDocument(world.stage.ctx, { model: world.model, document })).toMatchObject({ acts: [] });
    await destroyModel(world.stage.ctx, { model: world.model, confirm: world.model, force: true });
    for (let round = 0; round < 5; round += 1) await world.stage.stage.mend(world.staged.provider);
    await apply(document);
    expect((await getDocument(world.stage.ctx, { model: world.model })).document).toEqual(document);
  });

  test('JU-40 adds, upgrades and removes them as its plan says', async () => {
    world = await world.next();
    await world.deploy('mysql', 1);
    const { document } = await getDocument(world.stage.ctx, { model: world.model });
    const { mysql } = document.services;
    const staged = (staging: object) => ({ ...document, services: { mysql: { ...mysql, staging } } });
    await apply(staged({ units: 1, version: '1.1' }));
    expect(await world.slots()).toEqual(['mysql/0 production 1.0.0.0', 'mysql/1 staging 1.1.0.0']);
    expect((await apply(staged({ units: 1 }))).acts).toMatchObject([
      { kind: 'stage', from: '1.1.0.0', to: '1.0.0.0', units: ['mysql/1'] },
    ]);
    expect(await world.slots()).toEqual(['mysql/0 production 1.0.0.0', 'mysql/1 staging 1.0.0.0']);
    await expect(apply(staged({ units: 1, version: '9.0' }))).rejects.toMatchObject({
      faults: [{ path: '/services/mysql/staging/version', code: 'version_unknown' }],
    });
    await apply(document, true);
    expect(await world.slots()).toEqual(['mysql/0 production 1.0.0.0']);
  });
});
