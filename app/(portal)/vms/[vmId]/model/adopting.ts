import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

export type AdoptingModel = Pick<
  inferRouterOutputs<AppRouter>['models']['list']['items'][number],
  'name' | 'life' | 'bootstrappedAt' | 'availabilitySetsEnabled'
>;

/** Why a model does not take a VM as a machine; null if it does. */
export function obstacleOf({
  life,
  bootstrappedAt,
  availabilitySetsEnabled,
}: AdoptingModel): 'destroying' | 'bootstrap' | 'sets' | null {
  if (life === 'destroying') return 'destroying';
  if (availabilitySetsEnabled) return 'sets';
  return bootstrappedAt === null ? 'bootstrap' : null;
}

/** Returns the model that is chosen first: the only one that takes the VM; null if the reader has to choose. */
export function onlyChoice(models: readonly AdoptingModel[]): string | null {
  const [first, ...others] = models.filter((model) => obstacleOf(model) === null);
  return first !== undefined && others.length === 0 ? first.name : null;
}
