import type { inferRouterOutputs } from '@trpc/server';
import { unitFolderName } from '#protocol/unit-names.ts';
import { needsAttention, type VmHealth } from '#server/domain/verdicts/words.ts';
import type { AppRouter } from '#server/trpc/root.ts';
import { modelHref } from '../../model-data.ts';

type Outputs = inferRouterOutputs<AppRouter>;

export type ShownService = Outputs['services']['states']['items'][number];
export type ShownUnit = ShownService['units'][number];
export type ShownEndpointOfFormula = ShownService['endpoints'][number];
export type ShownRelation = Outputs['relations']['list']['items'][number];
export type ShownRecentRun = Outputs['services']['runs']['items'][number];
export type ServiceDetails = Outputs['services']['get'];

/** Number of services that a picture shows. Of a larger model, only a part is shown. */
export const maxPictureServices = 200;

/** Returns the address of a service's page. */
export const serviceHref = (model: string, service: string, health?: VmHealth): string =>
  `${modelHref(model)}/services/${encodeURIComponent(service)}${health === undefined ? '' : `?health=${health}`}`;

/** Returns the address of a relation's page. */
export const relationHref = (model: string, number: number): string => `${modelHref(model)}/relations/${number}`;

/** Returns the address of a unit's page. A unit is named like its folder there, because its name has a slash. */
export const unitHref = (model: string, unit: string): string =>
  `${modelHref(model)}/units/${encodeURIComponent(unitFolderName(unit))}`;

/** Health values of units, worst first; a unit without a known state comes before healthy units. */
const worstFirst: readonly VmHealth[] = [...needsAttention, 'progressing', 'unknown', 'healthy'];

/** Counts units by health, worst first. */
export function countUnits(units: readonly Pick<ShownUnit, 'health'>[]): { health: VmHealth; count: number }[] {
  const counts = Map.groupBy(units, ({ health }) => health);
  return worstFirst.flatMap((health) => {
    const count = counts.get(health)?.length ?? 0;
    return count === 0 ? [] : [{ health, count }];
  });
}

/** Counts the units of services by health. */
export const unitsByHealth = (services: readonly Pick<ShownService, 'units'>[]): Partial<Record<VmHealth, number>> =>
  Object.fromEntries(countUnits(services.flatMap(({ units }) => units)).map(({ health, count }) => [health, count]));

/** Returns the worst health of a service's units; null without units. */
export const healthOfService = ({ units }: Pick<ShownService, 'units'>): VmHealth | null =>
  countUnits(units)[0]?.health ?? null;

/** Sorts services by their worst unit, and by name if they are equally bad. Services without units come last. */
export function sortWorstFirst<Service extends Pick<ShownService, 'name' | 'units'>>(
  services: readonly Service[],
): Service[] {
  const rank = (service: Service) => {
    const health = healthOfService(service);
    return health === null ? worstFirst.length : worstFirst.indexOf(health);
  };
  return services.toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}

/** Returns the relations that a service's formula requires and that the service does not have. */
export const missingRelations = ({ life, endpoints }: Pick<ShownService, 'life' | 'endpoints'>) =>
  life !== 'alive'
    ? []
    : endpoints.filter(({ side, optional, relations }) => side === 'requires' && !optional && relations === 0);

/** Returns the open ports of a service, each once, by number. */
export function portsOf({ units }: Pick<ShownService, 'units'>): string[] {
  const number = (port: string) => Number.parseInt(port, 10);
  return [...new Set(units.flatMap(({ ports }) => ports))].sort((a, b) => number(a) - number(b));
}

/** Returns the public addresses of a service's units, each once. */
export const addressesOf = ({ units }: Pick<ShownService, 'units'>): string[] => [
  ...new Set(units.flatMap(({ publicAddress }) => publicAddress ?? [])),
];

/** Whether a service matches a search for part of its name, its formula or a name of its endpoints. */
export function isServiceMatch(
  { name, formula, endpoints }: Pick<ShownService, 'name' | 'formula' | 'endpoints'>,
  search: string,
): boolean {
  const wanted = search.trim().toLowerCase();
  const texts = [name, formula, ...endpoints.map((endpoint) => endpoint.interface)];
  return wanted === '' || texts.some((text) => text.toLowerCase().includes(wanted));
}

/** Returns the units that are removed if a service keeps this number of units in Production: the highest numbers. */
export function leavingUnits({ units }: Pick<ShownService, 'units'>, kept: number): ShownUnit[] {
  const living = units
    .filter(({ life, isStaged }) => life === 'alive' && !isStaged)
    .toSorted((a, b) => a.number - b.number);
  return Number.isSafeInteger(kept) && kept >= 0 ? living.slice(kept).toReversed() : [];
}

/**
 * Returns the health values that units explain: every machine with this health has a unit with the same health.
 * Unresponsive agents are explained by their machines.
 */
export function explainedHealths(
  machines: readonly { vmId: string; health: VmHealth }[],
  services: readonly Pick<ShownService, 'units'>[],
): VmHealth[] {
  const units = services.flatMap((service) => service.units);
  const known = new Set(units.map(({ vmId, health }) => `${vmId} ${health}`));
  return (['failed', 'degraded', 'unknown'] as const).filter((health) =>
    machines.every((machine) => machine.health !== health || known.has(`${machine.vmId} ${health}`)),
  );
}
