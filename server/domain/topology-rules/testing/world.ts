import { formatInstanceId } from '../instance-ids.ts';
import { drawName } from '../names.ts';
import { distributionGroup, type GroupMember, type Inventory, type PlacementRefusal, place } from '../place.ts';
import type { ServiceLabel } from '../words.ts';
import { type Random, randomOf } from './random.ts';

/** An instance of the modelled model, and the units on it. */
export interface ModelledInstance extends GroupMember {
  service: string;
  role: string;
  machine: number;
}

/** A model whose instances come and go at random. */
export interface World {
  model: string;
  availabilitySetsEnabled: boolean;
  instances: ModelledInstance[];
  /** Every cloud service that ever was, with its label. */
  used: Map<string, ServiceLabel | null>;
  machines: number;
  random: Random;
}

export const newWorld = (seed: number, availabilitySetsEnabled: boolean, model = 'prod'): World => ({
  model,
  availabilitySetsEnabled,
  instances: [],
  used: new Map(),
  machines: 0,
  random: randomOf(seed),
});

/** The rows of the world, as placement reads them. A cloud service goes with its last instance. */
export function inventoryOf({ model, availabilitySetsEnabled, instances, used }: World): Inventory {
  const services = new Map<string, { label: ServiceLabel | null; state: 'ready' | 'deleting'; roles: Set<string> }>();
  for (const { service, role, state } of instances) {
    const before = services.get(service) ?? {
      label: used.get(service) ?? null,
      state: 'deleting' as const,
      roles: new Set(),
    };
    before.roles.add(role);
    services.set(service, { ...before, state: state === 'deleting' ? before.state : 'ready' });
  }
  const machines = new Map(instances.map(({ machine, state, isController }) => [machine, { state, isController }]));
  return { model, availabilitySetsEnabled, services, machines, isNameTaken: (name) => used.has(name) };
}

export type Act =
  | { act: 'addUnit'; service: string; to?: number }
  | { act: 'addController' }
  | { act: 'addMachine' }
  | { act: 'beginRemoval'; id: string }
  | { act: 'endRemoval'; id: string };

/** Chooses an act at random. */
export function chooseAct({ random, instances }: World): Act {
  const leaving = instances.filter(({ state }) => state === 'deleting');
  const staying = instances.filter(({ state }) => state !== 'deleting');
  const kind = random.below(10);
  if (kind < 2 && staying.length > 0) return { act: 'beginRemoval', id: random.pick(staying).id };
  if (kind < 4 && leaving.length > 0) return { act: 'endRemoval', id: random.pick(leaving).id };
  if (kind === 4) return { act: 'addController' };
  if (kind === 5) return { act: 'addMachine' };
  const service = random.pick(['blog', 'store', 'cache']);
  return kind === 6 ? { act: 'addUnit', service, to: random.below(12) } : { act: 'addUnit', service };
}

/** Does an act. Returns the instance that came or changed, or the refusal, which changes nothing. */
export function doAct(world: World, act: Act): ModelledInstance | PlacementRefusal {
  if (act.act === 'beginRemoval' || act.act === 'endRemoval') {
    const index = world.instances.findIndex(({ id }) => id === act.id);
    const instance = world.instances[index] as ModelledInstance;
    if (act.act === 'endRemoval') world.instances.splice(index, 1);
    else world.instances[index] = { ...instance, state: 'deleting' };
    return instance;
  }
  return addInstance(world, act);
}

function addInstance(
  world: World,
  act: Exclude<Act, { act: 'beginRemoval' | 'endRemoval' }>,
): ModelledInstance | PlacementRefusal {
  const request =
    act.act === 'addUnit'
      ? { for: 'unit' as const, group: distributionGroup(world.instances, { service: act.service }), to: act.to }
      : act.act === 'addController'
        ? { for: 'controller' as const, group: distributionGroup(world.instances, { controller: true }) }
        : { for: 'machine' as const };
  const placed = place(inventoryOf(world), request, () => drawName(world.random.below));
  if ('refusal' in placed) return placed;
  const services = act.act === 'addUnit' ? [act.service] : [];
  if (placed.kind === 'machine') {
    const index = world.instances.findIndex(({ machine }) => machine === placed.machine);
    const on = world.instances[index] as ModelledInstance;
    world.instances[index] = { ...on, services: [...on.services, ...services] };
    return world.instances[index];
  }
  const { service, role } = placed;
  const isController = act.act === 'addController';
  if (placed.isNewService) world.used.set(service, isController ? 'controller' : null);
  const instance: ModelledInstance = {
    ...{ id: formatInstanceId({ service, role }), state: 'ready', isController, services },
    ...{ service, role, machine: world.machines },
  };
  world.machines += 1;
  world.instances.push(instance);
  return instance;
}
