import { describe, expect, test } from 'vitest';
import en from '#locales/en/errors.json' with { type: 'json' };
import {
  availabilitySetsByDefault,
  type BootstrapFacts,
  changeMode,
  destructionStep,
  type ModelRemains,
  planBootstrap,
} from './models.ts';

describe('JU-7 availability sets of a model', () => {
  test('are on, unless its creator decides otherwise', () => {
    expect(availabilitySetsByDefault).toBe(true);
  });

  const frozen = { refusal: 'availability_sets_frozen' };
  test.each([
    ['on, before the bootstrap', true, false, true, { availabilitySetsEnabled: true }],
    ['off, before the bootstrap', true, false, false, { availabilitySetsEnabled: false }],
    ['on again, before the bootstrap', false, false, true, { availabilitySetsEnabled: true }],
    ['the same value, after the bootstrap', true, true, true, { availabilitySetsEnabled: true }],
    ['the same value, after the bootstrap', false, true, false, { availabilitySetsEnabled: false }],
    ['off, after the bootstrap', true, true, false, frozen],
    ['on, after the bootstrap', false, true, true, frozen],
  ])('%s', (_, availabilitySetsEnabled, isBootstrapped, to, result) => {
    expect(changeMode({ availabilitySetsEnabled, isBootstrapped }, to)).toEqual(result);
  });
});

describe('JU-2 a bootstrap', () => {
  const facts = (given: Partial<BootstrapFacts> = {}): BootstrapFacts => ({
    ...{ hasStorageAccount: true, location: 'West Lab', affinityGroup: null, hasNetwork: false },
    ...given,
  });
  const here = { location: 'West Lab' };
  test.each<[string, Partial<BootstrapFacts>, number, object]>([
    ['creates everything but the storage account', {}, 0, { creates: ['affinityGroup', 'network', 'storage'] }],
    ['without a storage account is refused', { hasStorageAccount: false }, 0, { refusal: 'storage_account_unknown' }],
    ['uses an affinity group that exists', { affinityGroup: here }, 0, { creates: ['network', 'storage'] }],
    ['uses a network that exists', { hasNetwork: true }, 0, { creates: ['affinityGroup', 'storage'] }],
    ['uses both', { affinityGroup: here, hasNetwork: true }, 0, { creates: ['storage'] }],
    ['creates controllers last', {}, 3, { creates: ['affinityGroup', 'network', 'storage', 'controllers'] }],
    [
      'is refused if the affinity group is in another location',
      { affinityGroup: { location: 'East Lab' } },
      0,
      { refusal: 'affinity_group_elsewhere', params: { location: 'East Lab' } },
    ],
  ])('%s', (_, given, controllers, plan) => {
    expect(planBootstrap(facts(given), controllers)).toEqual(plan);
  });
});

describe('destroying a model', () => {
  const own = { isForeign: false, hasGivenUp: false };
  const whole: ModelRemains = {
    ...{ services: 2, machines: 3, cloudServices: 2, network: own, affinityGroup: own, storageObjects: 1 },
  };

  /** Takes each step, as if it succeeded, and returns the steps. */
  function stepsOf(remains: ModelRemains): string[] {
    const steps: string[] = [];
    let left = remains;
    for (;;) {
      const step = destructionStep(left);
      steps.push(step);
      if (step === 'model') return steps;
      if (step === 'network' || step === 'affinityGroup') left = { ...left, [step]: null };
      else left = { ...left, [step === 'storage' ? 'storageObjects' : step]: 0 };
    }
  }

  test('JU-18 services go first, and the storage last', () => {
    const order = ['services', 'machines', 'cloudServices', 'network', 'affinityGroup', 'storage', 'model'];
    expect(stepsOf(whole)).toEqual(order);
  });

  test('JU-26 an affinity group and a network that existed before stay', () => {
    const foreign = { isForeign: true, hasGivenUp: false };
    expect(stepsOf({ ...whole, network: foreign, affinityGroup: foreign })).toEqual([
      'services',
      'machines',
      'cloudServices',
      'storage',
      'model',
    ]);
  });

  test('JU-27 a network that cannot be deleted does not keep the storage, but a cloud service does', () => {
    const stuck = { isForeign: false, hasGivenUp: true };
    expect(destructionStep({ ...whole, services: 0, machines: 0, cloudServices: 0, network: stuck })).toBe(
      'affinityGroup',
    );
    expect(destructionStep({ ...whole, services: 0, machines: 0, network: stuck })).toBe('cloudServices');
    const last = { ...whole, services: 0, machines: 0, cloudServices: 0, network: stuck, affinityGroup: stuck };
    expect(stepsOf(last)).toEqual(['storage', 'model']);
  });

  test('a model that never had anything is gone immediately', () => {
    const nothing = {
      services: 0,
      machines: 0,
      cloudServices: 0,
      network: null,
      affinityGroup: null,
      storageObjects: 0,
    };
    expect(stepsOf(nothing)).toEqual(['model']);
  });
});

test('JU-8 the sentences of the refusals are those of the requirement', () => {
  const sentence = 'unit placement is not supported with availability-sets-enabled';
  expect(en.unit_placement_unsupported).toBe(sentence);
  expect(en.machine_placement_unsupported).toBe(`cannot add a new machine: ${sentence}`);
  expect(en.availability_sets_frozen).toBe('cannot change availability-sets-enabled');
});
