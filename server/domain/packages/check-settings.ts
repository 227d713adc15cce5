import type { SettingsSchema } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import type { Fault } from '#server/domain/error.ts';
import { checkValues } from './schema/run-schema.ts';
import type { HalvesToCheck } from './schema/settings-worker.ts';

/**
 * The public and protected settings that an operator enters. If `protectedSettings` is undefined, the current protected
 * settings are kept; null removes them.
 */
export interface GivenSettings {
  publicSettings?: unknown;
  protectedSettings?: unknown;
}

/**
 * Checks settings against the publisher's schema before they enter a goal state (AZ-C1). Returns every violation by
 * path; for protected settings only the path and the keyword. A version without a schema accepts any settings. A
 * version with a schema accepts protected settings only if it has a schema for them. Protected settings that are kept
 * are not checked.
 */
export async function checkSettings(
  services: Pick<Services, 'config' | 'memory'>,
  schema: SettingsSchema | null,
  settings: GivenSettings,
): Promise<Fault[]> {
  if (schema === null) return [];
  const { publicSettings = {}, protectedSettings } = settings;
  const values: HalvesToCheck = {};
  if (schema.publicSettings !== undefined) values.publicSettings = publicSettings;
  if (schema.protectedSettings !== undefined && protectedSettings !== undefined) {
    values.protectedSettings = protectedSettings ?? {};
  }
  const faults = Object.keys(values).length === 0 ? [] : await checkValues(services, schema, values);
  if (schema.protectedSettings === undefined && protectedSettings !== undefined && protectedSettings !== null) {
    faults.push({ path: '/protectedSettings', code: 'protected_not_accepted' });
  }
  return faults;
}
