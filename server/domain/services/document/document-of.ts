import type { ModelServiceState, ModelState, ModelUnitState, RelationState } from './read-state.ts';
import type { DocumentService, ModelDocument } from './schema.ts';
import { documentFormat } from './schema.ts';

/**
 * Returns the document of a model: sorted, without ids, times, secrets and defaults. What is being removed is left out.
 */
export function documentOf(state: ModelState): ModelDocument {
  const { name, location, storageAccount, availabilitySetsEnabled } = state.model;
  const living = state.units.filter(({ life }) => life === 'alive');
  const controllers = state.machines.filter(({ isController }) => isController).length;
  const machines = availabilitySetsEnabled ? [] : machinesWithoutUnits(state);
  const shared = sharedMachines(living);
  const listed = [...state.services.values()]
    .filter(({ row }) => row.life === 'alive')
    .map((service): [string, DocumentService] => {
      const own = living.filter((unit) => unit.service === service.row.name);
      return [service.row.name, serviceOf(service, own, shared)];
    });
  return sorted({
    ...{ annex: documentFormat, availabilitySetsEnabled },
    ...(controllers > 0 && { controllers }),
    location,
    ...(machines.length > 0 && { machines }),
    model: name,
    relations: state.relations.filter(isDeclared).map(endpointsOf).sort(byText),
    services: Object.fromEntries(listed.sort(byText)),
    storageAccount,
  });
}

/** Returns a JSON value whose objects have their names in order. */
function sorted<T>(value: T): T {
  if (Array.isArray(value)) return value.map((each) => sorted(each)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, sorted(each)])) as T;
}

/** Whether operators declared a relation. Relations between peers come with their service. */
export const isDeclared = ({ life, endpoints }: RelationState): boolean =>
  life === 'alive' && endpoints.every(({ side }) => side !== 'peer');

/** Returns the endpoints of a relation as a document names them: first the service that requires. */
export function endpointsOf({ endpoints }: Pick<RelationState, 'endpoints'>): [string, string] {
  const at = (wanted: string): string => {
    const found = endpoints.find(({ side }) => side === wanted);
    return `${found?.service}:${found?.name}`;
  };
  return [at('requires'), at('provides')];
}

/** Returns the numbers of machines that hold neither units nor a controller. */
export function machinesWithoutUnits({ machines, units }: Pick<ModelState, 'machines' | 'units'>): number[] {
  const used = new Set(units.map(({ machine }) => machine));
  return machines
    .filter(({ machine, isController }) => !isController && !used.has(machine))
    .map(({ machine }) => machine);
}

/** Returns the numbers of machines that hold several units. */
function sharedMachines(units: readonly ModelUnitState[]): ReadonlySet<number | null> {
  const byMachine = Map.groupBy(units, ({ machine }) => machine);
  return new Set([...byMachine].filter(([, all]) => all.length > 1).map(([machine]) => machine));
}

function serviceOf(
  { row, settings }: ModelServiceState,
  units: readonly ModelUnitState[],
  shared: ReadonlySet<number | null>,
): DocumentService {
  const { formula, formulaVersion: version, exposed, timeouts, atOnceUpgrade, atOnceConfigure, stagedVersion } = row;
  const staged = units.filter(({ isStaged }) => isStaged).length;
  const other = stagedVersion === version ? null : stagedVersion;
  const isPlaced = units.some(({ machine }) => machine !== null && shared.has(machine));
  const to = units.flatMap(({ machine }) => machine ?? []).sort((a, b) => a - b);
  return {
    ...(atOnceConfigure !== 1 && { configure: { atOnce: atOnceConfigure ?? 'all' } }),
    ...(exposed && { exposed }),
    formula,
    ...(settings.secret !== null && { protectedSettings: 'kept' as const }),
    ...(Object.keys(settings.given).length > 0 && { settings: settings.given }),
    ...(staged > 0 && { staging: { units: staged, ...(other !== null && { version: other }) } }),
    ...(Object.keys(timeouts).length > 0 && { timeouts }),
    units: isPlaced ? { to } : units.length - staged,
    ...(atOnceUpgrade !== 1 && { upgrade: { atOnce: atOnceUpgrade ?? 'all' } }),
    version,
  };
}

const byText = (one: readonly unknown[], other: readonly unknown[]): number => {
  const [a, b] = [one.slice(0, 2).join(' '), other.slice(0, 2).join(' ')];
  return a < b ? -1 : Number(a > b);
};
