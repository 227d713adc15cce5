import { parseInstanceId } from './instance-ids.ts';
import { cloudServiceName, drawFreeName, maxDraws, roleName } from './names.ts';
import type { ResourceState, ServiceLabel } from './words.ts';

/** A cloud service, as far as placement depends on it. */
export interface PlacedService {
  label: ServiceLabel | null;
  state: ResourceState;
  /** Names of its roles. */
  roles: ReadonlySet<string>;
}

/** A machine of a model without availability sets, as far as placement depends on it. */
export interface PlacedMachine {
  state: ResourceState;
  isController: boolean;
}

/** What a model contains. */
export interface Inventory {
  model: string;
  availabilitySetsEnabled: boolean;
  services: ReadonlyMap<string, PlacedService>;
  /** By their numbers in the model. */
  machines: ReadonlyMap<number, PlacedMachine>;
  /** Whether a cloud service has or had this name, in any model. */
  isNameTaken(name: string): boolean;
}

/**
 * What needs a place. `group` is the distribution group: the ids of the instances that must share a cloud service with
 * the new one. `to` is the number of a chosen machine.
 */
export type PlacementRequest =
  | { for: 'unit'; group: readonly string[]; to?: number | undefined }
  | { for: 'machine' }
  | { for: 'controller'; group: readonly string[] };

/** A machine that is there already, or a new role in a cloud service, which may be new too. */
export type Placement =
  | { kind: 'machine'; machine: number }
  | { kind: 'role'; service: string; isNewService: boolean; role: string; drawsLeft: number };

/** Why there is no place. The codes are those of errors. */
export interface PlacementRefusal {
  refusal:
    | 'unit_placement_unsupported'
    | 'machine_placement_unsupported'
    | 'placement_unknown'
    | 'cloud_service_name_exhausted'
    | 'role_name_exhausted';
}

/**
 * Returns where an instance is created (JU-8 to JU-11). Reads nothing but its arguments, and changes none of them.
 * `draw` returns the random part of a name, and `draws` limits the names that are tried.
 */
export function place(
  inventory: Inventory,
  request: PlacementRequest,
  draw: () => string,
  draws = maxDraws,
): Placement | PlacementRefusal {
  const to = request.for === 'unit' ? request.to : undefined;
  if (inventory.availabilitySetsEnabled) {
    if (request.for === 'machine') return { refusal: 'machine_placement_unsupported' };
    if (to !== undefined) return { refusal: 'unit_placement_unsupported' };
  } else if (to !== undefined) {
    return placeOn(inventory, to);
  }
  const group = request.for === 'machine' || !inventory.availabilitySetsEnabled ? [] : request.group;
  const label = request.for === 'controller' ? 'controller' : null;
  const shared = findGroupService(inventory, group, label);
  return shared === null ? placeInNewService(inventory, draw, draws) : placeInService(inventory, shared, draw);
}

function placeOn({ machines }: Inventory, to: number): Placement | PlacementRefusal {
  const machine = machines.get(to);
  const isFit = machine !== undefined && machine.state !== 'deleting' && !machine.isController;
  return isFit ? { kind: 'machine', machine: to } : { refusal: 'placement_unknown' };
}

/** Returns the cloud service of the group: that of its first member whose cloud service can take another role. */
function findGroupService(
  { model, services }: Inventory,
  group: readonly string[],
  label: ServiceLabel | null,
): string | null {
  for (const id of [...new Set(group)].sort()) {
    const name = parseInstanceId(model, id)?.service;
    const service = name === undefined ? undefined : services.get(name);
    if (name !== undefined && service !== undefined && service.state !== 'deleting' && service.label === label)
      return name;
  }
  return null;
}

function placeInService(inventory: Inventory, service: string, draw: () => string): Placement | PlacementRefusal {
  const roles = inventory.services.get(service)?.roles;
  const drawn = drawFreeName(roleName, (name) => roles?.has(name) ?? false, draw);
  if (drawn === null) return { refusal: 'role_name_exhausted' };
  return { kind: 'role', service, isNewService: false, role: drawn.name, drawsLeft: drawn.drawsLeft };
}

function placeInNewService(
  { model, isNameTaken }: Inventory,
  draw: () => string,
  draws: number,
): Placement | PlacementRefusal {
  const drawn = drawFreeName((random) => cloudServiceName(model, random), isNameTaken, draw, draws);
  if (drawn === null) return { refusal: 'cloud_service_name_exhausted' };
  const { name, drawsLeft } = drawn;
  return { kind: 'role', service: name, isNewService: true, role: roleName(draw()), drawsLeft };
}

/** An instance with what runs on it. */
export interface GroupMember {
  id: string;
  state: ResourceState;
  isController: boolean;
  /** The services whose units are on this instance. */
  services: readonly string[];
}

/**
 * Returns the distribution group (JU-9): for a unit, all instances with units of its service; for a controller, all
 * controllers. An instance that is being deleted belongs to no group.
 */
export function distributionGroup(
  instances: Iterable<GroupMember>,
  of: { service: string } | { controller: true },
): string[] {
  const belongs = (instance: GroupMember): boolean =>
    'service' in of ? instance.services.includes(of.service) : instance.isController;
  return [...instances].filter((instance) => instance.state !== 'deleting' && belongs(instance)).map(({ id }) => id);
}
