import { describe, expect, test } from 'vitest';
import {
  affinityGroupName,
  cloudServiceName,
  deploymentName,
  drawFreeName,
  drawName,
  firstDeployment,
  isModelName,
  machineName,
  maxModelName,
  networkName,
  randomLength,
  roleName,
  storageContainerName,
} from './names.ts';
import { randomOf } from './testing/random.ts';

describe('JU-30 the name of a model', () => {
  test.each(['prod', 'a', 'azure-1', 'a-1-b', 'p0', 'x'.repeat(maxModelName), 'con'])('can be %s', (name) => {
    expect(isModelName(name)).toBe(true);
  });

  test.each([
    ['empty', ''],
    ['two hyphens in a row', 'a--b'],
    ['a hyphen at the end', 'a-'],
    ['a hyphen at the beginning', '-a'],
    ['a digit at the beginning', '1a'],
    ['48 characters', 'x'.repeat(48)],
    ['a dot', 'a.b'],
    ['an upper-case letter', 'Prod'],
    ['an umlaut', 'ä'],
    ['a line break at the end', 'prod\n'],
    ['a space', 'a b'],
    ['a slash', 'a/b'],
  ])('cannot have or be: %s', (_, name) => {
    expect(isModelName(name)).toBe(false);
  });
});

test('JU-1 a model has one affinity group and one network, and its names begin with its prefix', () => {
  expect([affinityGroupName('prod'), networkName('prod'), storageContainerName('prod')]).toEqual([
    'juju-prod-ag',
    'juju-prod-vnet',
    'juju-prod-private',
  ]);
  expect(cloudServiceName('prod', 'k3j9x0a1bz')).toBe('juju-prod-k3j9x0a1bz');
  expect(roleName('q7f2m0c4xd')).toBe('jujuq7f2m0c4xd');
  expect(machineName('azure-1', 12)).toBe('azure-1-12');
  expect(deploymentName('juju-prod-k3j9x0a1bz', firstDeployment)).toBe('juju-prod-k3j9x0a1bz-v2');
});

test('JU-1 the random part has ten letters and digits and no hyphen, and every character occurs', () => {
  const random = randomOf(1);
  const drawn = Array.from({ length: 500 }, () => drawName(random.below));
  expect(drawn.filter((name) => !/^[a-z0-9]{10}$/.test(name))).toEqual([]);
  expect(new Set(drawn).size).toBe(500);
  expect(new Set(drawn.join(''))).toHaveLength(36);
});

test('JU-30 the longest name of a cloud service has 63 characters', () => {
  expect(cloudServiceName('x'.repeat(maxModelName), 'r'.repeat(randomLength))).toHaveLength(63);
});

describe('JU-3 a taken name', () => {
  const drawing = () => {
    let drawn = 0;
    const draw = () => {
      drawn += 1;
      return String(drawn);
    };
    return { draw, drawn: () => drawn };
  };
  const nameOf = (random: string) => `juju-prod-${random}`;

  test.each([0, 1, 5, 9])('after %d taken names, the next one is used', (taken) => {
    const { draw, drawn } = drawing();
    const isTaken = (name: string) => Number(name.split('-')[2]) <= taken;
    expect(drawFreeName(nameOf, isTaken, draw)).toEqual({ name: `juju-prod-${taken + 1}`, drawsLeft: 9 - taken });
    expect(drawn()).toBe(taken + 1);
  });

  test('after ten taken names there is none, and no eleventh is tried', () => {
    const { draw, drawn } = drawing();
    expect(drawFreeName(nameOf, () => true, draw)).toBeNull();
    expect(drawn()).toBe(10);
  });

  test('after a lost race, the draws that are left are used, ten in all', () => {
    const { draw, drawn } = drawing();
    const taken = new Set<string>();
    let drawsLeft = 10;
    for (;;) {
      const next = drawFreeName(nameOf, (name) => taken.has(name), draw, drawsLeft);
      if (next === null) break;
      taken.add(next.name);
      drawsLeft = next.drawsLeft;
    }
    expect(drawn()).toBe(10);
  });
});
