import { describe, expect, test } from 'vitest';
import { formatInstanceId, parseInstanceId } from './instance-ids.ts';
import { distributionGroup, type Inventory, type PlacementRequest, place } from './place.ts';
import { chooseAct, doAct, inventoryOf, type ModelledInstance, newWorld, type World } from './testing/world.ts';

const [s1, s2] = ['juju-prod-aaaaaaaaaa', 'juju-prod-bbbbbbbbbb'];
const role = (last: string) => `jujuaaaaaaaaa${last}`;
const id = (service: string, last = 'a') => formatInstanceId({ service, role: role(last) });

const inventory = (given: Partial<Inventory> = {}): Inventory => ({
  model: 'prod',
  availabilitySetsEnabled: true,
  services: new Map([
    [s1, { label: null, state: 'ready' as const, roles: new Set([role('a')]) }],
    [s2, { label: 'controller' as const, state: 'ready' as const, roles: new Set([role('a')]) }],
  ]),
  machines: new Map([
    [0, { state: 'ready' as const, isController: false }],
    [1, { state: 'ready' as const, isController: true }],
    [2, { state: 'deleting' as const, isController: false }],
  ]),
  isNameTaken: (name) => name === s1 || name === s2,
  ...given,
});

/** Draws the given random parts, then always the last one. */
const drawing = (...parts: string[]) => {
  const left = [...parts];
  return () => (left.length > 1 ? left.shift() : left[0]) as string;
};
const placed = (request: PlacementRequest, given: Partial<Inventory> = {}, ...parts: string[]) =>
  place(inventory(given), request, drawing(...parts, 'cccccccccc'));
const inNew = {
  kind: 'role',
  service: 'juju-prod-cccccccccc',
  isNewService: true,
  role: 'jujucccccccccc',
  drawsLeft: 9,
};
const inShared = (service: string) => ({
  ...{ kind: 'role', service, isNewService: false, role: 'jujucccccccccc', drawsLeft: 9 },
});

describe('with availability sets', () => {
  test.each<[string, PlacementRequest, object]>([
    ['JU-8 a machine without a unit is refused', { for: 'machine' }, { refusal: 'machine_placement_unsupported' }],
    [
      'JU-8 a chosen machine is refused',
      { for: 'unit', group: [id(s1)], to: 0 },
      { refusal: 'unit_placement_unsupported' },
    ],
    [
      'JU-8 machine 0 is a chosen machine too, even if it does not exist',
      { for: 'unit', group: [], to: 99 },
      { refusal: 'unit_placement_unsupported' },
    ],
    ['JU-9 an empty group gets a new cloud service', { for: 'unit', group: [] }, inNew],
    ['JU-9 a unit joins the cloud service of its group', { for: 'unit', group: [id(s1)] }, inShared(s1)],
    ['JU-10 a controller joins the controllers', { for: 'controller', group: [id(s2)] }, inShared(s2)],
    ['JU-10 no unit joins the controllers', { for: 'unit', group: [id(s2)] }, inNew],
    ['JU-10 no controller joins units', { for: 'controller', group: [id(s1)] }, inNew],
    ['an id of the older form counts', { for: 'unit', group: [s1] }, inShared(s1)],
    ['ids of other models do not count', { for: 'unit', group: ['juju-prod-1-aaaaaaaaaa', 'x'] }, inNew],
    ['a cloud service that is gone does not count', { for: 'unit', group: [id('juju-prod-dddddddddd')] }, inNew],
  ])('%s', (_, request, result) => {
    expect(placed(request)).toEqual(result);
  });

  test('JU-9 a cloud service that is being deleted gets no further instance', () => {
    const services = new Map([[s1, { label: null, state: 'deleting' as const, roles: new Set([role('a')]) }]]);
    expect(placed({ for: 'unit', group: [id(s1)] }, { services })).toEqual(inNew);
  });

  test('the order and repetitions of the group do not matter', () => {
    const services = new Map(
      [s1, s2].map((name) => [name, { label: null, state: 'ready' as const, roles: new Set<string>() }]),
    );
    const groups = [
      [id(s1), id(s2)],
      [id(s2), id(s1)],
      [id(s2), id(s2), id(s1, 'b'), id(s1)],
    ];
    expect(groups.map((group) => placed({ for: 'unit', group }, { services }))).toEqual(groups.map(() => inShared(s1)));
  });
});

describe('JU-11 without availability sets', () => {
  const off = { availabilitySetsEnabled: false };
  test.each<[string, PlacementRequest, object]>([
    ['a machine gets a new cloud service', { for: 'machine' }, inNew],
    ['a unit gets a new cloud service, whatever its group', { for: 'unit', group: [id(s1)] }, inNew],
    ['so does a controller', { for: 'controller', group: [id(s2)] }, inNew],
    ['a unit can be placed on a machine', { for: 'unit', group: [], to: 0 }, { kind: 'machine', machine: 0 }],
    ['not on a controller', { for: 'unit', group: [], to: 1 }, { refusal: 'placement_unknown' }],
    ['not on a machine that is being deleted', { for: 'unit', group: [], to: 2 }, { refusal: 'placement_unknown' }],
    ['not on a machine that does not exist', { for: 'unit', group: [], to: 3 }, { refusal: 'placement_unknown' }],
  ])('%s', (_, request, result) => {
    expect(placed(request, off)).toEqual(result);
  });
});

describe('JU-3 names', () => {
  test('taken names are drawn again', () => {
    expect(placed({ for: 'unit', group: [] }, {}, 'aaaaaaaaaa', 'bbbbbbbbbb')).toEqual({ ...inNew, drawsLeft: 7 });
  });

  test('after ten taken names the request fails', () => {
    const refusal = { refusal: 'cloud_service_name_exhausted' };
    expect(placed({ for: 'unit', group: [] }, { isNameTaken: () => true })).toEqual(refusal);
  });

  test('the name of a role is new within its cloud service', () => {
    const request = { for: 'unit' as const, group: [id(s1)] };
    expect(placed(request, {}, 'aaaaaaaaaa')).toEqual({ ...inShared(s1), drawsLeft: 8 });
    expect(place(inventory(), request, () => 'aaaaaaaaaa')).toEqual({ refusal: 'role_name_exhausted' });
  });
});

describe('JU-9 a distribution group', () => {
  const member = (last: string, services: string[], more: object = {}) => ({
    ...{ id: id(s1, last), state: 'ready' as const, isController: false, services },
    ...more,
  });
  const instances = [
    member('a', ['blog']),
    member('b', ['store']),
    member('c', ['store', 'blog']),
    member('d', ['blog'], { state: 'deleting' }),
    member('e', [], { isController: true }),
    member('f', [], { isController: true, state: 'creating' }),
  ];
  test.each([
    ['units of the same service', { service: 'blog' }, ['a', 'c']],
    ['no units of another service', { service: 'cache' }, []],
    ['all controllers', { controller: true as const }, ['e', 'f']],
  ])('has %s', (_, of, members) => {
    expect(distributionGroup(instances, of)).toEqual(members.map((last) => id(s1, last)));
  });
});

type Done = ReturnType<typeof doAct>;

/** Runs random histories, and returns the acts after which something does not hold. */
function faultsIn(worldOf: (seed: number) => World, holds: (world: World, done: Done, before: World) => boolean) {
  const faults: { seed: number; done: Done }[] = [];
  for (let seed = 0; seed < 200; seed += 1) {
    const world = worldOf(seed);
    for (let count = 0; count < 40; count += 1) {
      const before = { ...world, instances: [...world.instances], used: new Map(world.used) };
      const done = doAct(world, chooseAct(world));
      if (!holds(world, done, before)) faults.push({ seed, done });
    }
  }
  return faults;
}

const servicesOf = (instances: readonly ModelledInstance[]) => Map.groupBy(instances, ({ service }) => service);
const isNewIn = (before: World, done: Done): done is ModelledInstance =>
  !('refusal' in done) && !before.instances.some((one) => one.id === done.id);

describe('JU-23 over random histories', () => {
  test('JU-10 with availability sets, units of two services share no cloud service, and no unit shares one with a controller', () => {
    const kindOf = ({ isController, services }: ModelledInstance) => (isController ? 'controller' : services.join());
    const faults = faultsIn(
      (seed) => newWorld(seed, true),
      ({ instances }) => [...servicesOf(instances).values()].every((one) => new Set(one.map(kindOf)).size === 1),
    );
    expect(faults).toEqual([]);
  });

  test('JU-10 a second unit joins the first, and a service whose last instance was removed gets a name that was never used', () => {
    const seen = { joined: 0, again: 0 };
    const faults = faultsIn(
      (seed) => newWorld(seed, true),
      (_, done, before) => {
        if (!isNewIn(before, done)) return true;
        const { service, services, isController } = done;
        const staying = before.instances.filter(({ state }) => state !== 'deleting');
        const group = staying.filter((one) => one.isController === isController && one.services[0] === services[0]);
        if (group.length === 0 && before.used.size > 5) seen.again += 1;
        if (group.length === 0) return !before.used.has(service);
        seen.joined += 1;
        const together = before.instances.filter((one) => one.service === service);
        return group.some((one) => one.service === service) && together.every((one) => one.role !== done.role);
      },
    );
    expect(faults).toEqual([]);
    expect(Math.min(seen.joined, seen.again)).toBeGreaterThan(100);
  });

  test('JU-11 without availability sets, each machine is its own cloud service', () => {
    let shared = 0;
    const faults = faultsIn(
      (seed) => newWorld(seed, false),
      ({ instances }, done) => {
        if (!('refusal' in done) && new Set(done.services).size > 1) shared += 1;
        return servicesOf(instances).size === instances.length;
      },
    );
    expect(faults).toEqual([]);
    expect(shared).toBeGreaterThan(0);
  });

  test('JU-8 a rejection leaves the inventory unchanged, and the same inventory and draws give the same placement', () => {
    let refusals = 0;
    const twins = new Map<World, World>();
    const faults = faultsIn(
      (seed) => {
        const world = newWorld(seed, seed % 2 === 0);
        twins.set(world, newWorld(seed, seed % 2 === 0));
        return world;
      },
      (world, done, before) => {
        const twin = twins.get(world) as World;
        if (JSON.stringify(doAct(twin, chooseAct(twin))) !== JSON.stringify(done)) return false;
        if (!('refusal' in done)) return true;
        refusals += 1;
        return JSON.stringify(world.instances) === JSON.stringify(before.instances);
      },
    );
    expect(faults).toEqual([]);
    expect(refusals).toBeGreaterThan(100);
  });

  test('JU-31 no placement is in a cloud service that is being deleted, and instance ids parse in their model only', () => {
    const faults = faultsIn(
      (seed) => newWorld(seed, seed % 3 > 0, seed % 2 === 0 ? 'azure' : 'azure-1'),
      ({ model }, done, before) => {
        if ('refusal' in done) return true;
        const parsed = parseInstanceId(model, done.id);
        const isOwn = parsed?.service === done.service && parsed.role === done.role;
        const isForeign = parseInstanceId(model === 'azure' ? 'azure-1' : 'azure', done.id) !== null;
        const wasDeleting =
          isNewIn(before, done) && inventoryOf(before).services.get(done.service)?.state === 'deleting';
        return isOwn && !isForeign && !wasDeleting;
      },
    );
    expect(faults).toEqual([]);
  });
});

test('JU-23 placement looks up the members of the group only, however many machines the model has', () => {
  let lookUps = 0;
  class CountedMap<V> extends Map<string, V> {
    override get(key: string): V | undefined {
      lookUps += 1;
      return super.get(key);
    }
  }
  const lookUpsWith = (services: number): number => {
    const names = Array.from({ length: services }, (_, at) => `juju-prod-${String(at).padStart(10, '0')}`);
    const entries = names.map(
      (name) => [name, { label: null, state: 'ready' as const, roles: new Set<string>() }] as const,
    );
    lookUps = 0;
    place(
      inventory({ services: new CountedMap(entries) }),
      { for: 'unit', group: names.slice(0, 5) },
      () => 'zzzzzzzzzz',
    );
    return lookUps;
  };
  expect(lookUpsWith(10_000)).toBe(lookUpsWith(10));
});
