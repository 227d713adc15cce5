import { silenceField } from '#server/domain/attention/index.ts';
import { coreFields } from '#server/domain/fleet/index.ts';
import type { FleetFields } from '#server/domain/fleet-field.ts';
import { rolloutField, stepField } from '#server/domain/rollouts/index.ts';
import { unitOfField } from '#server/domain/services/index.ts';
import { availabilitySetField, cloudServiceField, instanceIdField, modelField } from '#server/domain/topology/index.ts';
import { updateAvailable } from './available-updates.ts';

/**
 * The filter fields of the fleet: first the fields of the module `fleet`, then the fields of other modules. Every
 * process uses this list.
 */
export const allFleetFields = [
  ...coreFields,
  silenceField,
  updateAvailable,
  rolloutField,
  stepField,
  modelField,
  cloudServiceField,
  availabilitySetField,
  instanceIdField,
  unitOfField,
] as const satisfies FleetFields;
