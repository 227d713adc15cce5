import { unitLimits } from '#protocol/unit-state.ts';
import type { Fault } from '#server/domain/error.ts';
import { distributionGroup, type Inventory, place } from '#server/domain/topology-rules/place.ts';
import { at, type Desired, type ModelPlan, type PlannedUnit } from './model-plan.ts';
import type { ModelState, ModelUnitState } from './read-state.ts';
import { type DocumentService, documentLimits } from './schema.ts';

/** Maximum number of machine numbers that can be skipped at a time, so that a document cannot use them up. */
const maxGap = 1_000;

/** What the units of a model are planned from. A model that does not exist yet is empty. */
export interface PlacementFacts {
  state: ModelState | null;
  isPlacing: boolean;
  /** The number of the next machine. */
  nextMachine: number;
}

type UnitPlan = Pick<ModelPlan, 'machines' | 'units' | 'faults'> & { surplus: ModelUnitState[] };

/**
 * Plans units and machines: which are missing, with the numbers that they will have, and which are too many. New
 * machines that the document names come first, in the order of their numbers.
 */
export function planUnits({ document, prepared }: Desired, facts: PlacementFacts): UnitPlan {
  const faults: Fault[] = stagingFaults(document, facts);
  const named = new Map<number, string>();
  const requests = Object.entries(document.services)
    .filter(([name]) => prepared.has(name))
    .flatMap(([name, service]) => requestsOf(name, service, livingOf(facts.state, name), facts));
  const listed = (document.machines ?? []).map((machine, index) => ({ machine, path: at('machines', index) }));
  if (!facts.isPlacing) faults.push(...refusals(requests, listed), ...emptyFaults(requests, facts.state));
  else {
    const known = new Set(facts.state?.machines.filter((one) => !one.isController).map(({ machine }) => machine));
    for (const { machine, path } of [...listed, ...requests.flatMap(({ missing }) => missing.filter(hasMachine))]) {
      if (known.has(machine)) continue;
      if (machine < facts.nextMachine || machine >= facts.nextMachine + maxGap) {
        faults.push({ path, code: 'placement_unknown' });
      } else if (!named.has(machine)) named.set(machine, path);
    }
  }
  const machines = [...named].map(([machine, path]) => ({ machine, path })).sort((a, b) => a.machine - b.machine);
  const units = faults.length > 0 ? [] : numberUnits(requests, facts, machines);
  if (units.length > documentLimits.newUnits) {
    faults.push({ path: at('services'), code: 'units_at_once', params: { limit: documentLimits.newUnits } });
  }
  faults.push(...crowdedMachines(units, facts.state));
  return { machines, units, faults, surplus: requests.flatMap(({ surplus }) => surplus) };
}

/** Returns the units of a service that do not leave; null for a new service. */
const livingOf = (state: ModelState | null, service: string): ModelUnitState[] | null =>
  state?.services.has(service) ? state.units.filter((unit) => unit.service === service && unit.life === 'alive') : null;

interface MissingUnit {
  path: string;
  machine: number | null;
}

const hasMachine = (unit: MissingUnit): unit is MissingUnit & { machine: number } => unit.machine !== null;

interface UnitRequest {
  service: string;
  isStaged: boolean;
  missing: MissingUnit[];
  surplus: ModelUnitState[];
}

/** Returns which units a service lacks in each slot, and which it has too many. */
function requestsOf(
  service: string,
  given: DocumentService,
  present: readonly ModelUnitState[] | null,
  { isPlacing }: PlacementFacts,
): UnitRequest[] {
  const inProduction = present?.filter(({ isStaged }) => !isStaged) ?? null;
  const production = { ...requestOf(service, given, inProduction), isStaged: false };
  if (isPlacing) return [production];
  const staged = present?.filter(({ isStaged }) => isStaged) ?? [];
  const wanted = given.staging?.units ?? 0;
  const path = at('services', service, 'staging', 'units');
  const missing = Array.from({ length: Math.max(0, wanted - staged.length) }, () => ({ path, machine: null }));
  return [production, { service, isStaged: true, missing, surplus: staged.slice(wanted) }];
}

/** Rejects units in Staging in a model without availability sets, where each machine has its own cloud service. */
const stagingFaults = ({ services }: Desired['document'], { isPlacing }: PlacementFacts): Fault[] =>
  Object.entries(services).flatMap(([name, { staging }]): Fault[] =>
    isPlacing && staging !== undefined && staging.units > 0
      ? [{ path: at('services', name, 'staging'), code: 'staging_unsupported' }]
      : [],
  );

/** Rejects new units in Production if a swap left it empty. */
function emptyFaults(requests: readonly UnitRequest[], state: ModelState | null): Fault[] {
  return requests.flatMap(({ service, isStaged, missing: [first] }): Fault[] => {
    const all = state?.units.filter((unit) => unit.service === service && unit.machine !== null) ?? [];
    const [staged] = all.filter((unit) => unit.isStaged);
    if (isStaged || first === undefined || staged === undefined || all.some((unit) => !unit.isStaged)) return [];
    const cloudService = staged.instanceId?.slice(0, staged.instanceId.lastIndexOf('-')) ?? '';
    return [{ path: first.path, code: 'production_empty', params: { service: cloudService } }];
  });
}

/** Returns which units a service lacks in Production, and which it has too many: those with the highest numbers. */
function requestOf(
  service: string,
  { units }: DocumentService,
  present: readonly ModelUnitState[] | null,
): Omit<UnitRequest, 'isStaged'> {
  const path = at('services', service, 'units');
  const living = present ?? [];
  if (typeof units === 'object') return placedRequest(service, units.to, living);
  const wanted = units ?? present?.length ?? 1;
  const missing = Array.from({ length: Math.max(0, wanted - living.length) }, () => ({ path, machine: null }));
  return { service, missing, surplus: living.slice(wanted) };
}

function placedRequest(
  service: string,
  to: readonly number[],
  living: readonly ModelUnitState[],
): Omit<UnitRequest, 'isStaged'> {
  const free = [...living];
  const missing = to.flatMap((machine, index) => {
    const found = free.findIndex((unit) => unit.machine === machine);
    if (found >= 0) free.splice(found, 1);
    return found >= 0 ? [] : [{ path: at('services', service, 'units', 'to', index), machine }];
  });
  return { service, missing, surplus: free };
}

/** Rejects machines in a model with availability sets (JU-8). */
function refusals(requests: readonly UnitRequest[], listed: readonly { path: string }[]): Fault[] {
  const placed = requests.flatMap(({ missing }) => missing.filter(hasMachine));
  return [
    ...listed.map(({ path }) => ({ path, code: 'machine_placement_unsupported' as const })),
    ...placed.map(({ path }) => ({ path, code: 'unit_placement_unsupported' as const })),
  ];
}

/** Gives each missing unit its number and its machine. */
function numberUnits(
  requests: readonly UnitRequest[],
  { state, nextMachine }: PlacementFacts,
  named: readonly { machine: number }[],
): PlannedUnit[] {
  const isNamed = new Set(named.map(({ machine }) => machine));
  let next = Math.max(nextMachine, ...named.map(({ machine }) => machine + 1));
  const numbers = new Map(state?.counters);
  return requests.flatMap(({ service, isStaged, missing }) => {
    const cloudService = state === null ? null : cloudServiceOf(state, service);
    return missing.map(({ path, machine }): PlannedUnit => {
      const number = numbers.get(service) ?? 0;
      const unit = `${service}/${number}`;
      numbers.set(service, number + 1);
      if (machine !== null) {
        return {
          unit,
          service,
          machine,
          isNewMachine: isNamed.has(machine),
          isChosen: true,
          isStaged,
          cloudService: null,
          path,
        };
      }
      next += 1;
      return { unit, service, machine: next - 1, isNewMachine: true, isChosen: false, isStaged, cloudService, path };
    });
  });
}

/** Returns the cloud service that a new unit of a service gets its machine in; null for a new one. */
function cloudServiceOf({ inventory, units }: ModelState, service: string): string | null {
  const members = units
    .filter((unit) => unit.service === service)
    .flatMap(({ instanceId }) => instanceId ?? [])
    .map((id) => ({ id, state: 'ready' as const, isController: false, services: [service] }));
  const group = distributionGroup(members, { service });
  const placed = place(inventory satisfies Inventory, { for: 'unit', group }, () => '0000000000');
  return 'kind' in placed && placed.kind === 'role' && !placed.isNewService ? placed.service : null;
}

/** Rejects more units on one machine than an agent runs. */
function crowdedMachines(added: readonly PlannedUnit[], state: ModelState | null): Fault[] {
  const { unitsOfVm: limit } = unitLimits;
  const counts = Map.groupBy([...(state?.units ?? []), ...added], ({ machine }) => machine);
  return added
    .filter(({ machine, isChosen }) => isChosen && (counts.get(machine)?.length ?? 0) > limit)
    .map(({ path }) => ({ path, code: 'units_too_many', params: { limit } }));
}
