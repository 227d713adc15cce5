import type { inferRouterOutputs } from '@trpc/server';
import { vmsAddress } from '#app/_lib/vms-address.ts';
import type { FleetFilter } from '#server/domain/fleet/index.ts';
import { needsAttention, type VmHealth } from '#server/domain/verdicts/words.ts';
import type { AppRouter } from '#server/trpc/root.ts';

type Outputs = inferRouterOutputs<AppRouter>['models'];

export type ListedModel = Outputs['counted']['items'][number];
export type ShownModel = Outputs['get'];
export type ShownTopology = Outputs['topology'];
export type ShownCloudService = ShownTopology['cloudServices'][number];
export type ShownDeployment = ShownCloudService['deployments'][number];
export type ShownRole = ShownDeployment['roles'][number];
export type ShownEndpoint = ShownDeployment['endpoints'][number];
export type ShownSwap = inferRouterOutputs<AppRouter>['topology']['planSwap'];
export type ShownMachine = Outputs['machines']['items'][number];
export type AddedMachine = Outputs['addMachine'];
export type ShownAccount = Outputs['storageAccounts']['items'][number];

/** Interval in milliseconds at which health is reloaded, because time alone can change it. */
export const ageMs = 10_000;

/** Returns the address of a model's page. */
export const modelHref = (model: string): string => `/models/${encodeURIComponent(model)}`;

/** Returns the address of a model's services, or of those with a unit of this health. */
export const servicesHref = (model: string, health?: VmHealth): string =>
  `${modelHref(model)}?view=services${health === undefined ? '' : `&health=${health}`}`;

/** The part of a place by which the list of VMs can be filtered. */
export interface PlaceFilter {
  model?: string;
  cloudService?: string;
  availabilitySet?: string;
  instanceId?: string;
}

/** Returns the address of the list of the VMs at a place. */
export const placeHref = (place: PlaceFilter, filter: FleetFilter = {}): string =>
  vmsAddress({ ...place, ...filter } as FleetFilter);

/** A reason why a model needs attention, the most urgent first. */
export type ModelNeed =
  | { kind: 'bootstrap' }
  | { kind: 'destroying' }
  | { kind: 'health'; health: (typeof needsAttention)[number]; count: number }
  | { kind: 'unknown'; count: number };

/** The health of the machines that a need counts. */
export const healthOfNeed = (need: Extract<ModelNeed, { count: number }>): VmHealth =>
  need.kind === 'health' ? need.health : 'unknown';

type Facts = Pick<ShownModel, 'life' | 'bootstrappedAt'> & { health: Partial<Record<VmHealth, number>> };

/** Returns what needs attention in a model. */
export function needsOf({ life, bootstrappedAt, health }: Facts): ModelNeed[] {
  if (life === 'destroying') return [{ kind: 'destroying' }];
  if (bootstrappedAt === null) return [{ kind: 'bootstrap' }];
  const unhealthy = needsAttention.flatMap((one) => {
    const count = health[one] ?? 0;
    return count === 0 ? [] : [{ kind: 'health' as const, health: one, count }];
  });
  const unknown = health.unknown ?? 0;
  return unknown === 0 ? unhealthy : [...unhealthy, { kind: 'unknown', count: unknown }];
}

/** Returns the worst health of a model's machines; null if it has none. */
export const worstOf = (health: Partial<Record<VmHealth, number>>): VmHealth | null =>
  ([...needsAttention, 'progressing', 'unknown', 'healthy'] as const).find((one) => (health[one] ?? 0) > 0) ?? null;
