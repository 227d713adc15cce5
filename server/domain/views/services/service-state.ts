import type { RelationSide } from '#protocol/formula-words.ts';
import type { FailingHook } from '#server/domain/service-rules/stored.ts';
import type { Life, UnitStage } from '#server/domain/service-rules/words.ts';
import type { HealthCause, VmHealth } from '#server/domain/verdicts/words.ts';

/** A service as the page of its model shows it: its units with their health, and its endpoints. */
export interface ModelService {
  name: string;
  life: Life;
  formula: string;
  version: string;
  exposed: boolean;
  settingsVersion: number;
  /** How many units may change their version at the same time; null for all. */
  atOnce: number | null;
  /** Sorted by number. */
  units: ServiceUnit[];
  endpoints: FormulaEndpoint[];
}

/** A name by which a service can be related, with the number of its relations. */
export interface FormulaEndpoint {
  side: RelationSide;
  name: string;
  interface: string;
  /** How many relations the service can have with this name; null for any number. */
  limit: number | null;
  optional: boolean;
  relations: number;
}

/** A unit of a service, with the hook that is due next. */
export interface ServiceUnit {
  unit: string;
  number: number;
  life: Life;
  stage: UnitStage;
  health: VmHealth;
  cause: HealthCause | null;
  /** The hook that is the cause; for the cause `relation`, the missing relation. */
  hook: string | null;
  vmId: string;
  vm: string;
  /** The number of the machine; null if the VM no longer has a role. */
  machine: number | null;
  /** Whether the unit is in the Staging deployment of a model with availability sets. */
  isStaged: boolean;
  publicAddress: string | null;
  /** The versions that the unit should have, and whether its hooks confirmed them. */
  version: string;
  settingsVersion: number;
  isConfirmed: boolean;
  /** Whether protected settings are withheld from the machine until an admin releases them. */
  needsRelease: boolean;
  ports: string[];
  running: string | null;
  next: { hook: string; remoteUnit: string | null } | null;
  failing: FailingHookState[];
}

/** A unit with a hook of a relation that fails. */
export interface FailingUnit extends Pick<ServiceUnit, 'unit' | 'failing'> {
  service: string;
  formula: string;
}

/** A hook that fails, with the reason in the reader's language. */
export interface FailingHookState extends Omit<FailingHook, 'remoteUnit'> {
  remoteUnit: string | null;
  /** What an operator decided about the run that failed last; null before a decision. */
  resolution: 'retry' | 'skip' | null;
  reason: HookReasonText | null;
}

/** Why a hook failed: the formula's message in the reader's language. */
export interface HookReasonText {
  id: string;
  text: string;
  lang: string;
}
