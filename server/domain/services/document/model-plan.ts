import { jsonPointer } from '#protocol/pointer.ts';
import type { Fault } from '#server/domain/error.ts';
import type { PreparedService, ServiceRequest } from '../prepare-service.ts';
import type { ModelServiceState, ModelUnitState, RelationState } from './read-state.ts';
import type { ModelDocument } from './schema.ts';

/** What a document asks of a model, after each of its services was checked. */
export interface Desired {
  document: ModelDocument;
  /** Whether what the document leaves out is removed. */
  prune: boolean;
  prepared: ReadonlyMap<string, PreparedService>;
  /** What a bootstrap finds. */
  place: { hasStorageAccount: boolean; affinityGroup: { location: string } | null };
}

/** The fields of a service that a document sets. */
export type ServiceFields = Pick<ServiceRequest, 'exposed' | 'timeouts' | 'upgrade' | 'configure'>;

/** A service to deploy or to change. */
export interface PlannedService {
  name: string;
  fields: ServiceFields;
  prepared: PreparedService;
  /** Null for a service to deploy. */
  current: ModelServiceState | null;
  /** Another version of its units in Staging, with those that are there; null if it stays. */
  stage: { from: string | null; to: string; units: string[] } | null;
}

/** A unit to add. */
export interface PlannedUnit {
  unit: string;
  service: string;
  /** The number that its machine has or will have. */
  machine: number;
  isNewMachine: boolean;
  /** Whether the document names the machine, which may then hold several units. */
  isChosen: boolean;
  isStaged: boolean;
  /** The cloud service of the new machine; null for a machine that exists, and for a new cloud service. */
  cloudService: string | null;
  /** JSON pointer to the part of the document that leads to the unit. */
  path: string;
}

/** A relation to create. */
export interface PlannedRelation {
  /** The endpoint that requires, and the one that provides. */
  endpoints: [string, string];
  interface: string;
  path: string;
}

/** What is removed, or what would be with `prune`. */
export interface PlannedRemovals {
  services: { name: string; units: string[]; relations: RelationState[] }[];
  units: ModelUnitState[];
  relations: RelationState[];
  machines: number[];
}

/** What applying a document does. */
export interface ModelPlan {
  creates: boolean;
  /** The number of controllers; null if the model is bootstrapped. */
  bootstraps: number | null;
  services: PlannedService[];
  /** Machines that the document names and that do not exist yet, in the order of their numbers. */
  machines: { machine: number; path: string }[];
  units: PlannedUnit[];
  relations: PlannedRelation[];
  /** What goes because of `prune`; without it, what stays although the document leaves it out. */
  left: PlannedRemovals;
  faults: Fault[];
}

/** Returns a JSON pointer into a document. */
export const at = (...path: (string | number)[]): string => jsonPointer(path);
