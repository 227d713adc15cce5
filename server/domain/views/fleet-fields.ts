import { silenceField } from '#server/domain/attention/index.ts';
import { coreFields } from '#server/domain/fleet/index.ts';
import type { FleetFields } from '#server/domain/fleet-field.ts';
import { updateAvailable } from './available-updates.ts';

/** The filter fields of the fleet: those of `fleet`, then those of later modules. Every process uses this list. */
export const allFleetFields: FleetFields = [...coreFields, silenceField, updateAvailable];
