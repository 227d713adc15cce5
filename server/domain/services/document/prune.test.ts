import { describe, expect, test } from 'vitest';
import { isEmpty, planModel } from './plan-model.ts';
import { briefly, desiredOf, faultsOf, type GivenModel, paperModel, planned } from './testing/paper-model.ts';

const web = { formula: 'Acme.Lab.web', version: '1.0' };
const store = { formula: 'Acme.Lab.store', version: '1.0' };

const shop: GivenModel = {
  services: {
    web: {
      ...{ formula: 'web', units: [0, 1, 2], given: { title: 'Lab' } },
      row: { exposed: true, timeouts: { start: 900 }, atOnceUpgrade: null, atOnceConfigure: 5 },
    },
    store: { formula: 'store', units: [3], secret: '{"key":"a"}' },
  },
  relations: [['web:db', 'store:db']],
  started: ['web/0', 'web/1', 'web/2', 'store/0'],
};
const related = { relations: [['web', 'store']] };
const nothing = { services: [], units: [], relations: [], machines: [] };

describe('JU-41 what a document leaves out', () => {
  test('stays without prune: fields, settings, secrets, units, services and relations', () => {
    const plan = planned(shop, {});
    expect(plan).toMatchObject({ prune: false, acts: [], hooks: [], machines: [] });
    expect(plan.left).toEqual({
      services: [
        { service: 'store', units: ['store/0'], relations: [{ number: 0, endpoints: ['web:db', 'store:db'] }] },
        {
          ...{ service: 'web', units: ['web/0', 'web/1', 'web/2'] },
          relations: [{ number: 0, endpoints: ['web:db', 'store:db'] }],
        },
      ].reverse(),
      ...{ units: [], relations: [], machines: [] },
    });
    expect(planned(shop, { ...related, services: { web, store } })).toMatchObject({ acts: [], left: nothing });
  });

  test('of a service gets its defaults with prune', () => {
    const { acts, left } = planned(shop, { ...related, services: { web, store } }, true);
    expect(left).toEqual(nothing);
    expect(acts).toMatchObject([
      {
        kind: 'settings',
        service: 'web',
        changes: [{ key: 'title', before: 'Lab' }],
        protectedSettings: null,
        atOnce: 1,
      },
      { kind: 'limits', service: 'web', fields: ['timeouts', 'upgrade', 'configure'] },
      { kind: 'expose', service: 'web', exposed: false },
      { kind: 'settings', service: 'store', changes: [], protectedSettings: 'removed' },
    ]);
  });

  test('protected settings that are kept stay with prune', () => {
    const services = { web, store: { ...store, protectedSettings: 'kept' } };
    const { acts } = planned(shop, { ...related, services }, true);
    expect(acts.filter((act) => 'service' in act && act.service === 'store')).toEqual([]);
  });

  test('takes the units with the highest numbers, and keeps those of services without a number', () => {
    const two = planned(shop, { ...related, services: { web: { ...web, units: 1 }, store } }, true);
    expect(two.left).toEqual({ ...nothing, units: ['web/1', 'web/2'] });
    expect(planned(shop, { ...related, services: { web, store } }, true).left.units).toEqual([]);
    const none = planned(shop, { ...related, services: { web: { ...web, units: 0 }, store } }, true);
    expect(none.left.units).toEqual(['web/0', 'web/1', 'web/2']);
  });

  test('a unit that leaves is not removed a second time', () => {
    const services = { web: { ...web, units: 1 }, store };
    expect(planned({ ...shop, dying: ['web/2'] }, { ...related, services }, true).left.units).toEqual(['web/1']);
  });

  test('runs the last hooks of units that leave with prune, and none without', () => {
    const document = { ...related, services: { web: { ...web, units: 2, exposed: true }, store } };
    expect(planned(shop, document).hooks).toEqual([]);
    const hooks = briefly(planned(shop, document, true));
    expect(hooks['web/2']).toEqual(
      expect.arrayContaining([expect.stringMatching(/^db-relation-broken now/), 'stop now']),
    );
    expect(hooks['store/0']).toContain('db-relation-departed now web/2');
  });

  test('a relation ends with prune, on both sides, and its services stay', () => {
    const document = { services: { web, store } };
    expect(planned(shop, document).left.relations).toEqual([{ number: 0, endpoints: ['web:db', 'store:db'] }]);
    const hooks = briefly(planned(shop, document, true));
    for (const unit of ['web/0', 'web/1', 'web/2', 'store/0']) {
      const departed = hooks[unit]?.filter((hook) => hook.startsWith('db-relation-departed now'));
      expect(departed).toHaveLength(1);
      expect(hooks[unit]).toContain('db-relation-broken now');
      expect(hooks[unit]).not.toContain('stop now');
    }
  });

  test('a relation of a service that is removed is named with the service only', () => {
    const { left } = planned(shop, { services: { web } }, true);
    expect(left.services).toMatchObject([{ service: 'store', relations: [{ number: 0 }] }]);
    expect(left.relations).toEqual([]);
  });

  test('machines without units are removed, those of controllers and of units never', () => {
    const plain: GivenModel = {
      ...{ availabilitySetsEnabled: false, controllers: 2, machines: [5, 6] },
      services: { web: { formula: 'web', units: [4] } },
    };
    const services = { web };
    expect(planned(plain, { services }, true).left).toEqual({ ...nothing, machines: [5, 6] });
    expect(planned(plain, { services, machines: [6] }, true).left.machines).toEqual([5]);
    const used = planned(plain, { services: { web: { ...web, units: { to: [4, 5] } } } }, true);
    expect(used.left.machines).toEqual([6]);
  });

  test('machines of a model with availability sets follow their units', () => {
    expect(planned({ machines: [1] }, {}, true).left.machines).toEqual([]);
  });

  test('makes a plan that changes something only with prune', () => {
    const state = paperModel(shop);
    for (const prune of [false, true]) {
      const desired = desiredOf(state, { services: {} }, prune);
      expect(isEmpty(planModel(state, desired), prune)).toBe(!prune);
    }
  });

  test('frees an endpoint for another relation only with prune', () => {
    const two: GivenModel = { ...shop, services: { ...shop.services, other: { formula: 'store', units: [4] } } };
    const document = { services: { web, store, other: store }, relations: [['web', 'other']] };
    expect(faultsOf(two, document)).toEqual(['/relations/0 relation_limit']);
    const state = paperModel(two);
    const quiet = { ...state, relations: state.relations.map((one) => ({ ...one, hasUnits: false })) };
    expect(planModel(quiet, desiredOf(quiet, document, true)).faults).toEqual([]);
  });

  test('a relation that takes time to end still uses its endpoint', () => {
    const two: GivenModel = { ...shop, services: { ...shop.services, other: { formula: 'store', units: [4] } } };
    const document = { services: { web, store, other: store }, relations: [['web', 'other']] };
    expect(faultsOf(two, document, true)).toEqual(['/relations/0 relation_limit']);
  });
});

describe('JU-40 the hash of a plan', () => {
  const hashOf = (given: GivenModel | null, fields = {}, prune = false): string =>
    planned(given, { ...related, services: { web: { ...web, exposed: true, ...fields }, store } }, prune).planHash;
  const now = hashOf(shop);

  test('is the same for the same effect, whatever hooks have run', () => {
    expect(hashOf(shop)).toBe(now);
    expect(hashOf({ ...shop, started: [], failing: ['web/0'] })).toBe(now);
  });

  test.each<[string, () => string]>([
    ['a unit more', () => hashOf({ ...shop, services: { ...shop.services, cache: { formula: 'cache', units: [9] } } })],
    ['a unit that leaves', () => hashOf({ ...shop, dying: ['web/2'] })],
    ['another value of a setting', () => hashOf(shop, { settings: { title: 'x' } })],
    ['another limit', () => hashOf(shop, { configure: { atOnce: 2 } })],
    ['prune', () => hashOf(shop, {}, true)],
  ])('is another one with %s', (_name, other) => {
    expect(other()).not.toBe(now);
  });

  test('distinguishes two values of a setting', () => {
    const [one, other] = ['x', 'y'].map((title) => hashOf(shop, { settings: { title } }));
    expect(one).not.toBe(other);
  });

  test('stays the same when the model is created and bootstrapped before the rest', () => {
    const document = { controllers: 1, services: { cache: { formula: 'Acme.Lab.cache', version: '1.0' } } };
    expect(planned({ controllers: 1 }, document).planHash).toBe(planned(null, document).planHash);
  });
});
