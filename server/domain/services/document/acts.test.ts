import { describe, expect, test } from 'vitest';
import { briefly, type GivenModel, planned } from './testing/paper-model.ts';

const web = { formula: 'Acme.Lab.web', version: '1.0' };
const store = { formula: 'Acme.Lab.store', version: '1.0' };
const cache = { formula: 'Acme.Lab.cache', version: '1.0' };
const fresh = ['install now', 'config-changed now', 'start now'];

/** A website of two units and its store, all of which have started. */
const shop: GivenModel = {
  services: {
    web: { formula: 'web', units: [0, 1], given: { title: 'Lab' } },
    store: { formula: 'store', units: [2] },
  },
  relations: [['web:db', 'store:db']],
  started: ['web/0', 'web/1', 'store/0'],
};
const kept = { relations: [['web', 'store']] };

describe('JU-40 a plan of a new model', () => {
  test('creates it, bootstraps it, and only then deploys', () => {
    const plan = planned(null, { controllers: 3, services: { web } });
    expect(plan.acts).toEqual([
      { kind: 'createModel', path: '/model', availabilitySetsEnabled: true },
      { kind: 'bootstrap', path: '/model', controllers: 3 },
      { ...{ kind: 'deploy', service: 'web', path: '/services/web', exposed: false }, ...web, version: '1.0.0.0' },
      {
        ...{ kind: 'addUnits', service: 'web', slot: 'production', path: '/services/web/units' },
        units: [{ unit: 'web/0', machine: 3, isNewMachine: true, cloudService: null }],
      },
    ]);
    expect(plan).toMatchObject({ revision: null, machines: [3] });
    expect(briefly(plan)).toEqual({ 'web/0': fresh });
  });

  test('names its mode', () => {
    const [first] = planned(null, { availabilitySetsEnabled: false }).acts;
    expect(first).toEqual({ kind: 'createModel', path: '/model', availabilitySetsEnabled: false });
  });

  test('bootstraps a model that was created only', () => {
    const { acts, revision } = planned({ bootstrappedAt: null }, { controllers: 1 });
    expect(acts).toEqual([{ kind: 'bootstrap', path: '/model', controllers: 1 }]);
    expect(revision).toBe(7);
  });

  test('does not bootstrap a model again', () => {
    expect(planned({ controllers: 1 }, { controllers: 1 }).acts).toEqual([]);
  });
});

describe('JU-40 a plan of services', () => {
  test('deploys an exposed service without units', () => {
    const plan = planned({}, { services: { web: { ...web, units: 0, exposed: true } } });
    expect(plan.acts).toMatchObject([{ kind: 'deploy', service: 'web', exposed: true }]);
    expect(plan).toMatchObject({ machines: [], hooks: [] });
  });

  test('changes settings by key, and runs one hook on each unit', () => {
    const settings = { title: 'Blog', theme: 'dark' };
    const plan = planned(shop, { ...kept, services: { web: { ...web, settings }, store } });
    expect(plan.acts).toEqual([
      {
        ...{ kind: 'settings', service: 'web', path: '/services/web/settings', from: 1, to: 2, atOnce: 1 },
        changes: [
          { key: 'theme', before: undefined, after: 'dark' },
          { key: 'title', before: 'Lab', after: 'Blog' },
        ],
        ...{ protectedSettings: null, units: ['web/0', 'web/1'] },
      },
    ]);
    expect(briefly(plan)).toEqual({ 'web/0': ['config-changed now'], 'web/1': ['config-changed now'] });
    expect(plan.hooks[0]?.hooks[0]).toMatchObject({ because: 'other-settings', count: 1 });
  });

  test('distinguishes null from a missing key, and values by what they are', () => {
    const before = { a: null, b: { x: 1, y: 2 }, c: [1, 2], d: 1 };
    const after = { b: { y: 2, x: 1 }, c: [2, 1], d: '1', e: null };
    const given: GivenModel = { services: { store: { formula: 'store', given: before } } };
    const [act] = planned(given, { services: { store: { ...store, settings: after } } }).acts;
    expect(act).toMatchObject({
      changes: [
        { key: 'a', before: null, after: undefined },
        { key: 'c', before: [1, 2], after: [2, 1] },
        { key: 'd', before: 1, after: '1' },
        { key: 'e', before: undefined, after: null },
      ],
    });
  });

  test('keeps settings that it leaves out, and removes all with an empty object', () => {
    expect(planned(shop, { ...kept, services: { web, store } }).acts).toEqual([]);
    const { acts } = planned(shop, { ...kept, services: { web: { ...web, settings: {} }, store } });
    expect(acts).toMatchObject([{ changes: [{ key: 'title', before: 'Lab', after: undefined }] }]);
  });

  test.each([
    ['set', { protectedSettings: { key: 'b' } }, 'set'],
    ['removed', { protectedSettings: null }, 'removed'],
  ])('says that protected settings are %s, and no value of them', (_name, fields, said) => {
    const given: GivenModel = { services: { store: { formula: 'store', secret: '{"key":"a"}' } } };
    const { acts } = planned(given, { services: { store: { ...store, ...fields } } });
    expect(acts).toMatchObject([{ kind: 'settings', changes: [], protectedSettings: said }]);
    expect(JSON.stringify(acts)).not.toContain('"key"');
  });

  test.each([{ protectedSettings: 'kept' }, { protectedSettings: { key: 'a' } }, {}])(
    'keeps protected settings with %j',
    (fields) => {
      const given: GivenModel = { services: { store: { formula: 'store', secret: '{"key":"a"}' } } };
      expect(planned(given, { services: { store: { ...store, ...fields } } }).acts).toEqual([]);
    },
  );

  test('upgrades units with the number at a time that the document sets', () => {
    const services = { web: { ...web, version: '2.0', upgrade: { atOnce: 'all' } }, store };
    const plan = planned(shop, { ...kept, services });
    expect(plan.acts).toMatchObject([
      { kind: 'settings', changes: [], from: 1, to: 2 },
      {
        ...{ kind: 'upgrade', path: '/services/web/version', from: '1.0.0.0', to: '2.0.0.0', atOnce: null },
        units: ['web/0', 'web/1'],
      },
      { kind: 'limits', path: '/services/web', fields: ['upgrade'] },
    ]);
    const each = ['upgrade-formula now', 'config-changed now'];
    expect(briefly(plan)).toEqual({ 'web/0': each, 'web/1': each });
  });

  test('names the limits that change, and runs no hook for them', () => {
    const limits = { timeouts: { start: 900 }, upgrade: { atOnce: 2 }, configure: { atOnce: 1 } };
    const plan = planned(shop, { ...kept, services: { web: { ...web, ...limits }, store } });
    const fields = ['timeouts', 'upgrade'];
    expect(plan.acts).toEqual([{ kind: 'limits', service: 'web', path: '/services/web', fields }]);
    expect(plan.hooks).toEqual([]);
  });

  test.each([true, false])('changes whether a service is exposed to %j, without a hook', (exposed) => {
    const given: GivenModel = { services: { web: { formula: 'web', row: { exposed: !exposed } } } };
    const plan = planned(given, { services: { web: { ...web, exposed } } });
    expect(plan.acts).toEqual([{ kind: 'expose', service: 'web', path: '/services/web/exposed', exposed }]);
    expect(planned(given, { services: { web: { ...web, exposed: !exposed } } }).acts).toEqual([]);
    expect(planned(given, { services: { web } }).acts).toEqual([]);
  });

  test('lists acts of services by name, then machines, units and relations', () => {
    const all = {
      web: { ...web, exposed: true, units: { to: [9] } },
      cache: { ...cache, units: { to: [8, 9] } },
      store,
    };
    const model = { availabilitySetsEnabled: false };
    const { acts } = planned(model, { ...kept, services: all, machines: [7] });
    expect(acts.map((act) => [act.kind, 'service' in act ? act.service : ''].join(' ').trim())).toEqual([
      ...['deploy web', 'deploy cache', 'deploy store'],
      ...['addMachine', 'addMachine', 'addMachine'],
      ...['addUnits web', 'addUnits cache', 'addUnits store', 'relate'],
    ]);
  });
});

describe('JU-40 a plan of units', () => {
  test('adds those that are missing, with the next numbers', () => {
    const plan = planned(shop, { ...kept, services: { web: { ...web, units: 4 }, store } });
    expect(plan.acts).toMatchObject([
      {
        units: [
          { unit: 'web/2', machine: 3 },
          { unit: 'web/3', machine: 4 },
        ],
      },
    ]);
    expect(plan.machines).toEqual([3, 4]);
    const joined = 'db-relation-joined started';
    expect(briefly(plan)).toEqual({
      'store/0': [`${joined} web/2,web/3`],
      'web/2': [...fresh, `${joined} store/0`],
      'web/3': [...fresh, `${joined} store/0`],
    });
  });

  test('does not count units that leave, and does not use their numbers again', () => {
    const services = { web: { ...web, units: 2 }, store };
    const { acts } = planned({ ...shop, dying: ['web/0'] }, { ...kept, services });
    expect(acts).toMatchObject([{ kind: 'addUnits', units: [{ unit: 'web/2', machine: 3 }] }]);
  });

  test('uses machines that exist, and enrolls those that it names', () => {
    const model: GivenModel = { availabilitySetsEnabled: false, controllers: 1, machines: [1, 2] };
    const plan = planned(model, { services: { web: { ...web, units: { to: [2, 5, 5] } } }, machines: [1, 6] });
    expect(plan.acts.filter(({ kind }) => kind === 'addMachine')).toEqual([
      { kind: 'addMachine', path: '/services/web/units/to/1', machine: 5 },
      { kind: 'addMachine', path: '/machines/1', machine: 6 },
    ]);
    expect(plan.acts.at(-1)).toMatchObject({
      units: [
        { unit: 'web/0', machine: 2, isNewMachine: false },
        { unit: 'web/1', machine: 5, isNewMachine: true },
        { unit: 'web/2', machine: 5, isNewMachine: true },
      ],
    });
    expect(plan.machines).toEqual([5, 6]);
  });

  test('gives units without a chosen machine the numbers after those that are named', () => {
    const services = { cache: { ...cache, units: 1 }, web: { ...web, units: { to: [4] } } };
    const plan = planned({ availabilitySetsEnabled: false }, { services });
    expect(plan.machines).toEqual([4, 5]);
  });

  test('moves no unit: one on another machine is added, and the one there is left over', () => {
    const model: GivenModel = {
      availabilitySetsEnabled: false,
      machines: [1],
      services: { web: { formula: 'web', units: [0] } },
    };
    const plan = planned(model, { services: { web: { ...web, units: { to: [1] } } } });
    expect(plan.acts).toMatchObject([
      { kind: 'addUnits', units: [{ unit: 'web/1', machine: 1, isNewMachine: false }] },
    ]);
    expect(plan.left).toMatchObject({ units: ['web/0'], machines: [] });
  });

  test('joins new peers to each other', () => {
    const plan = planned({}, { services: { cache: { ...cache, units: 2 } } });
    expect(briefly(plan)).toEqual({
      'cache/0': [...fresh, 'ring-relation-joined started cache/1'],
      'cache/1': [...fresh, 'ring-relation-joined started cache/0'],
    });
  });
});

describe('JU-40 a plan of relations', () => {
  const unrelated = { ...shop, relations: [] };

  test.each([[['web', 'store']], [['store', 'web']], [['store:db', 'web']], [['web:db', 'store:db']]])(
    'relates %j, first the endpoint that requires',
    (pair) => {
      const plan = planned(unrelated, { services: { web, store }, relations: [pair] });
      const endpoints = ['web:db', 'store:db'];
      expect(plan.acts).toEqual([{ kind: 'relate', path: '/relations/0', endpoints, interface: 'store' }]);
      expect(briefly(plan)).toEqual({
        'web/0': ['db-relation-joined now store/0'],
        'web/1': ['db-relation-joined now store/0'],
        'store/0': ['db-relation-joined now web/0,web/1'],
      });
    },
  );

  test('waits with their hooks for units that have not started', () => {
    const given = { ...unrelated, started: ['web/0', 'store/0'] };
    const plan = planned(given, { services: { web, store }, relations: [['web', 'store']] });
    expect(briefly(plan)).toMatchObject({
      'web/0': ['db-relation-joined now store/0'],
      'store/0': ['db-relation-joined now web/0', 'db-relation-joined started web/1'],
    });
    expect(briefly(plan)['web/1']).toContain('db-relation-joined started store/0');
  });

  test('of a model that has them changes nothing', () => {
    expect(planned(shop, { ...kept, services: { web, store } })).toMatchObject({ acts: [], hooks: [] });
  });
});

test('a plan warns of units of changed services whose hooks fail, and of no others', () => {
  const given = { ...shop, failing: ['web/1', 'store/0'] };
  const services = { web: { ...web, exposed: true }, store };
  expect(planned(given, { ...kept, services }).warnings).toEqual([
    { code: 'unit_failing', unit: 'web/1', path: '/services/web' },
  ]);
  expect(planned(given, { ...kept, services: { web, store } }).warnings).toEqual([]);
});
