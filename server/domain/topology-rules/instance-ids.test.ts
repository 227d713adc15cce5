import { describe, expect, test } from 'vitest';
import { findRole, formatInstanceId, isServiceOf, listInOrder, parseInstanceId } from './instance-ids.ts';
import { cloudServiceName, drawName, isModelName, roleName } from './names.ts';
import { randomOf } from './testing/random.ts';

const service = 'juju-prod-k3j9x0a1bz';
const role = 'jujuq7f2m0c4xd';

test('JU-12 an instance id is the name of the cloud service, a hyphen, and the name of the role', () => {
  expect(formatInstanceId({ service, role })).toBe('juju-prod-k3j9x0a1bz-jujuq7f2m0c4xd');
  expect(parseInstanceId('prod', `${service}-${role}`)).toEqual({ service, role });
});

test('JU-12 an id of the older form names the cloud service only', () => {
  expect(parseInstanceId('prod', service)).toEqual({ service, role: null });
});

test.each([
  ['no random part', 'juju-prod-'],
  ['an empty random part', `juju-prod--${role}`],
  ['an empty role', `${service}-`],
  ['upper case', `${service}-${role}`.toUpperCase()],
  ['a percent-encoded slash', `${service}%2f${role}`],
  ['a role with another beginning', `${service}-azurq7f2m0c4xd`],
  ['a role that is too long', `${service}-${role}x`],
  ['a role that is too short', `${service}-juju`],
  ['a random part that is too short', 'juju-prod-k3j9x0a1b'],
  ['a third part', `${service}-${role}-x`],
  ['a line break at the end', `${service}-${role}\n`],
  ['another model', `juju-test-k3j9x0a1bz-${role}`],
  ['no prefix', `prod-k3j9x0a1bz-${role}`],
  ['nothing', ''],
])('JU-12 an id with %s is of no instance', (_, id) => {
  expect(parseInstanceId('prod', id)).toBeNull();
  expect(findRole('prod', id, () => [role])).toEqual({ refusal: 'instance_unknown' });
});

test.each([
  ['azure', 'azure-1'],
  ['azure', 'azure-aaaaaaaaaa'],
  ['azure', 'azure-aaaaaaaaaa-jujubbbbbbbbbb'],
  ['azure-1', 'azure-1-jujubbbbbbbbbb'],
  ['a', 'a-a'],
])('JU-13 the model %s lists nothing of the model %s, and the other way round', (model, other) => {
  const ids = (of: string) => {
    const name = cloudServiceName(of, 'k3j9x0a1bz');
    return [name, formatInstanceId({ service: name, role })];
  };
  expect(ids(other).filter((id) => parseInstanceId(model, id) !== null)).toEqual([]);
  expect(ids(model).filter((id) => parseInstanceId(other, id) !== null)).toEqual([]);
  expect(isServiceOf(model, cloudServiceName(model, 'k3j9x0a1bz'))).toBe(true);
  expect(isServiceOf(model, cloudServiceName(other, 'k3j9x0a1bz'))).toBe(false);
});

/** Returns names of models that resemble each other and parts of ids. */
function trickyModels(seed: number): string[] {
  const random = randomOf(seed);
  const parts = ['azure', 'juju', '1', 'a', 'aaaaaaaaaa', `juju${drawName(random.below)}`, drawName(random.below)];
  const grow = () => Array.from({ length: 1 + random.below(3) }, () => random.pick(parts)).join('-');
  return Array.from({ length: 12 }, grow).filter(isModelName);
}

test('JU-31 formatting and parsing gives the same, and no id of one model parses in another', () => {
  const faults: string[] = [];
  for (let seed = 0; seed < 100; seed += 1) {
    const { below } = randomOf(seed + 1_000);
    const models = [...new Set(trickyModels(seed))];
    for (const model of models) {
      const ref = { service: cloudServiceName(model, drawName(below)), role: roleName(drawName(below)) };
      const id = formatInstanceId(ref);
      const parsed = [parseInstanceId(model, id), parseInstanceId(model, ref.service)];
      if (JSON.stringify(parsed) !== JSON.stringify([ref, { ...ref, role: null }])) faults.push(id);
      const others = models.filter((other) => other !== model);
      faults.push(...others.filter((other) => parseInstanceId(other, id) ?? parseInstanceId(other, ref.service)));
    }
  }
  expect(faults).toEqual([]);
});

describe('the role of an instance id', () => {
  const other = 'jujuaaaaaaaaaa';
  const lookUp = (id: string, roles: string[]) => findRole('prod', id, (of) => (of === service ? roles : []));

  test.each([
    ['the role itself', `${service}-${role}`, [other, role], { ref: { service, role } }],
    ['a role that is gone', `${service}-${role}`, [other], { refusal: 'instance_unknown' }],
    ['JU-12 the only role of the cloud service', service, [role], { ref: { service, role } }],
    [
      'JU-12 one of two roles, so the id is rejected',
      service,
      [role, other],
      { refusal: 'legacy_instance_ambiguous', params: { service, roles: 2 } },
    ],
    ['no role, because the cloud service is empty', service, [], { refusal: 'instance_unknown' }],
    ['no role of this model', 'juju-prod-1-k3j9x0a1bz', [role], { refusal: 'instance_unknown' }],
  ])('is %s', (_, id, roles, found) => {
    expect(lookUp(id, roles)).toEqual(found);
  });
});

describe('JU-14 several instances', () => {
  const known = new Map([
    ['a', 1],
    ['b', 2],
  ]);
  const list = (...ids: string[]) => listInOrder(ids, (id) => known.get(id) ?? null);

  test.each([
    [['a', 'b'], { instances: [1, 2], partial: false }],
    [['b', 'a'], { instances: [2, 1], partial: false }],
    [['b', 'x', 'a'], { instances: [2, null, 1], partial: true }],
    [['x', 'a', 'a'], { instances: [null, 1, 1], partial: true }],
    [['x', 'y'], { refusal: 'no_instances' }],
    [[], { refusal: 'no_instances' }],
  ])('%j keeps its order and its gaps', (ids, result) => {
    expect(list(...ids)).toEqual(result);
  });
});
