import { describe, expect, test } from 'vitest';
import de from '#locales/de/errors.json' with { type: 'json' };
import en from '#locales/en/errors.json' with { type: 'json' };
import { planModel } from './plan-model.ts';
import { desiredOf, faultsOf, type GivenModel, paperModel } from './testing/paper-model.ts';

const web = { formula: 'Acme.Lab.web', version: '1.0' };
const store = { formula: 'Acme.Lab.store', version: '1.0' };
const shop: GivenModel = {
  services: { web: { formula: 'web', units: [0] }, store: { formula: 'store', units: [1] } },
  relations: [['web:db', 'store:db']],
};
const plain = { ...shop, availabilitySetsEnabled: false };

type Refusal = [string, GivenModel | null, Record<string, unknown>, string[]];
const refusals: Refusal[] = [
  ['another location', {}, { location: 'Mars' }, ['/location document_fixed']],
  ['another storage account', {}, { storageAccount: 'other' }, ['/storageAccount document_fixed']],
  ['other controllers', { controllers: 1 }, { controllers: 2 }, ['/controllers document_fixed']],
  ['another mode', {}, { availabilitySetsEnabled: false }, ['/availabilitySetsEnabled availability_sets_frozen']],
  [
    'a chosen machine, and machines, with availability sets',
    {},
    { machines: [1], services: { web: { ...web, units: { to: [3] } } } },
    ['/machines/0 machine_placement_unsupported', '/services/web/units/to/0 unit_placement_unsupported'],
  ],
  [
    'a machine of a controller',
    { availabilitySetsEnabled: false, controllers: 1 },
    { services: { web: { ...web, units: { to: [0] } } } },
    ['/services/web/units/to/0 placement_unknown'],
  ],
  ['a machine far away', plain, { machines: [2, 1_001, 1_002] }, ['/machines/2 placement_unknown']],
  [
    'a service that it lacks',
    shop,
    { services: { web }, relations: [['web', 'gone']] },
    ['/relations/0/1 document_service_missing'],
  ],
  [
    'endpoints that do not fit',
    {},
    { services: { store, cache: { ...web, formula: 'Acme.Lab.cache' } }, relations: [['store', 'cache']] },
    ['/relations/0 relation_no_match'],
  ],
  [
    'a relation twice',
    shop,
    {
      services: { web, store },
      relations: [
        ['web', 'store'],
        ['store:db', 'web:db'],
      ],
    },
    ['/relations/1 document_relation_twice'],
  ],
  [
    'a relation that still ends',
    { ...shop, dying: ['web:db store:db'] },
    { services: { web, store }, relations: [['web', 'store']] },
    ['/relations/0 relation_dying'],
  ],
];

describe('a document is rejected by the path of', () => {
  test.each(refusals)('%s', (_name, given, fields, faults) => {
    expect(faultsOf(given, fields)).toEqual(faults);
  });

  test.each(refusals)('%s, with a sentence in English and one in German', (_name, given, fields) => {
    const state = given === null ? null : paperModel(given);
    for (const { code, params = {} } of planModel(state, desiredOf(state, fields)).faults) {
      const sentences = [en, de].map((texts) => (texts as Record<string, string>)[code] ?? '');
      expect(sentences[0]).not.toBe(sentences[1]);
      for (const sentence of sentences) {
        expect(sentence).not.toBe('');
        const names = [...sentence.matchAll(/\{\{(\w+)/g)].map(([, name]) => name);
        for (const name of names) expect(params).toHaveProperty(name ?? '');
      }
    }
  });

  test('everything that is wrong, not only the first', () => {
    const fields = { location: 'Mars', machines: [1], services: { web }, relations: [['web', 'x']] };
    expect(faultsOf({}, fields)).toEqual([
      '/location document_fixed',
      '/machines/0 machine_placement_unsupported',
      '/relations/0/1 document_service_missing',
    ]);
  });

  test('each unit beyond those that a machine can hold', () => {
    const full = (count: number) => ({ services: { web: { ...web, units: { to: Array(count).fill(2) } } } });
    const model: GivenModel = { availabilitySetsEnabled: false, machines: [2] };
    expect(faultsOf(model, full(64))).toEqual([]);
    const found = faultsOf(model, full(65));
    expect(found).toContain('/services/web/units/to/64 units_too_many');
  });
});

describe('a new model is rejected', () => {
  const refusal = (place: object) => {
    const desired = { ...desiredOf(null, { services: { web } }), place };
    return planModel(null, desired as Parameters<typeof planModel>[1]).faults;
  };

  test('without its storage account', () => {
    const [fault] = refusal({ hasStorageAccount: false, affinityGroup: null });
    const params = { account: 'labstore' };
    expect(fault).toEqual({ path: '/storageAccount', code: 'storage_account_unknown', params });
  });

  test('where its affinity group is in another location', () => {
    const [fault] = refusal({ hasStorageAccount: true, affinityGroup: { location: 'Mars' } });
    expect(fault).toEqual({ path: '/location', code: 'affinity_group_elsewhere', params: { location: 'Mars' } });
  });

  test('never for an affinity group in its own location', () => {
    expect(refusal({ hasStorageAccount: true, affinityGroup: { location: 'West Lab' } })).toEqual([]);
  });
});
