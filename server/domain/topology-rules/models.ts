/** What a model's mode depends on. */
export interface ModelMode {
  availabilitySetsEnabled: boolean;
  isBootstrapped: boolean;
}

/** Whether a new model has availability sets, unless its creator decides otherwise (JU-7). */
export const availabilitySetsByDefault = true;

/** Returns the mode after a change. After the bootstrap, only the current value is accepted (JU-7). */
export function changeMode(
  { availabilitySetsEnabled, isBootstrapped }: ModelMode,
  to: boolean,
): { availabilitySetsEnabled: boolean } | { refusal: 'availability_sets_frozen' } {
  if (isBootstrapped && to !== availabilitySetsEnabled) return { refusal: 'availability_sets_frozen' };
  return { availabilitySetsEnabled: to };
}

/** What the bootstrap of a model finds. */
export interface BootstrapFacts {
  hasStorageAccount: boolean;
  location: string;
  /** The affinity group with the model's name for it; null if there is none. */
  affinityGroup: { location: string } | null;
  hasNetwork: boolean;
}

export type BootstrapStep = 'affinityGroup' | 'network' | 'storage' | 'controllers';

export type BootstrapPlan =
  | { creates: BootstrapStep[] }
  | { refusal: 'storage_account_unknown' }
  | { refusal: 'affinity_group_elsewhere'; params: { location: string } };

/**
 * Returns what the bootstrap creates, in order (JU-2). The storage account must exist; an affinity group in the model's
 * location and a network that exist are used.
 */
export function planBootstrap(
  { hasStorageAccount, location, affinityGroup, hasNetwork }: BootstrapFacts,
  controllers: number,
): BootstrapPlan {
  if (!hasStorageAccount) return { refusal: 'storage_account_unknown' };
  if (affinityGroup !== null && affinityGroup.location !== location)
    return { refusal: 'affinity_group_elsewhere', params: { location: affinityGroup.location } };
  return {
    creates: [
      ...(affinityGroup === null ? ['affinityGroup' as const] : []),
      ...(hasNetwork ? [] : ['network' as const]),
      'storage',
      ...(controllers > 0 ? ['controllers' as const] : []),
    ],
  };
}

/** What a model still has while it is destroyed. `isForeign`: the part existed before the model, and is kept. */
export interface ModelRemains {
  services: number;
  machines: number;
  cloudServices: number;
  network: { isForeign: boolean; hasGivenUp: boolean } | null;
  affinityGroup: { isForeign: boolean; hasGivenUp: boolean } | null;
  storageObjects: number;
}

export type DestructionStep =
  | 'services'
  | 'machines'
  | 'cloudServices'
  | 'network'
  | 'affinityGroup'
  | 'storage'
  | 'model';

/** Something that the destruction of a model left behind. */
export interface DestructionWarning {
  code: 'network_left' | 'affinity_group_left';
  name: string;
}

/** Seconds after which a network or affinity group that cannot be deleted is left behind, with a warning (JU-27). */
export const giveUpSeconds = 30;

/**
 * Returns the step that the destruction of a model is at (JU-18): services first, and storage last. What existed before
 * the model stays (JU-26).
 */
export function destructionStep(remains: ModelRemains): DestructionStep {
  if (remains.services > 0) return 'services';
  if (remains.machines > 0) return 'machines';
  if (remains.cloudServices > 0) return 'cloudServices';
  if (mustGo(remains.network)) return 'network';
  if (mustGo(remains.affinityGroup)) return 'affinityGroup';
  return remains.storageObjects > 0 ? 'storage' : 'model';
}

const mustGo = (of: ModelRemains['network']): boolean => of !== null && !of.isForeign && !of.hasGivenUp;
