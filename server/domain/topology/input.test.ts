import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import {
  addMachineInput,
  bootstrapModelInput,
  changeModelInput,
  createModelInput,
  destroyModelInput,
  getModelInput,
  listInstancesInput,
  removeMachineInput,
  setStorageAccountInput,
  topologyLimits,
} from './input.ts';

/** Returns the paths and codes of what is wrong with an input. */
const faultsOf = (schema: z.ZodType, input: unknown): string[] =>
  schema.safeParse(input).error?.issues.map(({ path, message }) => `${path.join('/')} ${message}`) ?? [];
const model = { name: 'prod', location: 'West Lab', storageAccount: 'labstore' };

describe('a new model', () => {
  test.each([
    ['the least', {}],
    ['availability sets on', { availabilitySetsEnabled: true }],
    ['availability sets off', { availabilitySetsEnabled: false }],
    ['the longest name', { name: 'x'.repeat(47) }],
    ['a location in another script', { location: 'Köln 東京' }],
    ['the longest location', { location: 'l'.repeat(topologyLimits.location) }],
  ])('can have %s', (_, given) => {
    expect(faultsOf(createModelInput, { ...model, ...given })).toEqual([]);
  });

  test.each([
    ['JU-30 two hyphens in its name', { name: 'a--b' }, 'name model_name_form'],
    ['JU-30 an upper-case letter in its name', { name: 'Prod' }, 'name model_name_form'],
    ['JU-30 a dot in its name', { name: 'prod.1' }, 'name model_name_form'],
    ['a storage account with a hyphen', { storageAccount: 'lab-store' }, 'storageAccount storage_account_name_form'],
    ['a storage account of two characters', { storageAccount: 'ab' }, 'storageAccount storage_account_name_form'],
    [
      'a storage account of 25 characters',
      { storageAccount: 'a'.repeat(25) },
      'storageAccount storage_account_name_form',
    ],
  ])('cannot have %s', (_, given, fault) => {
    expect(faultsOf(createModelInput, { ...model, ...given })).toEqual([fault]);
  });

  test.each([
    ['no name', { name: '' }, 'name'],
    ['a name of 48 characters', { name: 'x'.repeat(48) }, 'name'],
    ['an empty location', { location: '  ' }, 'location'],
    ['a location that is too long', { location: 'l'.repeat(topologyLimits.location + 1) }, 'location'],
    ['a text instead of a flag', { availabilitySetsEnabled: 'yes' }, 'availabilitySetsEnabled'],
    ['no storage account', { storageAccount: undefined }, 'storageAccount'],
  ])('cannot have %s', (_, given, path) => {
    const faults = faultsOf(createModelInput, { ...model, ...given });
    expect(faults).toHaveLength(1);
    expect(faults[0]?.split(' ')[0]).toBe(path);
  });
});

test.each([
  ['abc', []],
  ['labstore', []],
  ['0'.repeat(24), []],
  ['Lab', ['name storage_account_name_form']],
  ['', ['name storage_account_name_form']],
  ['läb', ['name storage_account_name_form']],
  ['lab\n', ['name storage_account_name_form']],
])('the storage account %j', (name, faults) => {
  expect(faultsOf(setStorageAccountInput, { name, location: 'West Lab' })).toEqual(faults);
});

describe('a bootstrap', () => {
  test('has no controllers unless they are requested', () => {
    expect(bootstrapModelInput.parse({ model: 'prod' })).toEqual({ model: 'prod', controllers: 0 });
  });

  test.each([
    [0, true],
    [topologyLimits.controllers, true],
    [topologyLimits.controllers + 1, false],
    [-1, false],
    [1.5, false],
    ['2', false],
  ])('with %j controllers: accepted is %s', (controllers, isAccepted) => {
    expect(bootstrapModelInput.safeParse({ model: 'prod', controllers }).success).toBe(isAccepted);
  });
});

test('removing a machine and destroying a model wait for agents unless force is set', () => {
  expect(removeMachineInput.parse({ model: 'prod', machine: 0 }).force).toBe(false);
  expect(destroyModelInput.parse({ model: 'prod' })).toEqual({ model: 'prod', force: false });
});

test.each([
  [0, true],
  [2_147_483_647, true],
  [2_147_483_648, false],
  [-1, false],
  [0.5, false],
])('the machine %d: accepted is %s', (machine, isAccepted) => {
  expect(removeMachineInput.safeParse({ model: 'prod', machine }).success).toBe(isAccepted);
});

test('a model in a path can have any name, so that an unknown one is answered with 404', () => {
  for (const name of ['A--b', '', '%2f', 'x'.repeat(100)]) {
    expect(getModelInput.safeParse({ model: name }).success).toBe(true);
    expect(changeModelInput.safeParse({ model: name, availabilitySetsEnabled: true }).success).toBe(true);
  }
  expect(addMachineInput.safeParse({ model: 'x'.repeat(101) }).success).toBe(false);
});

test('JU-14 up to 1,000 instances are returned in one response', () => {
  const ids = (count: number) => ({ model: 'prod', ids: Array.from({ length: count }, () => 'juju-prod-x') });
  expect(listInstancesInput.safeParse(ids(topologyLimits.instanceIds)).success).toBe(true);
  expect(listInstancesInput.safeParse(ids(topologyLimits.instanceIds + 1)).success).toBe(false);
  expect(listInstancesInput.safeParse({ model: 'prod', ids: ['x'.repeat(201)] }).success).toBe(false);
});
