import type { SettingsSchema } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import type { Fault } from '#server/domain/error.ts';
import { checkValues } from './schema/run-schema.ts';
import type { HalvesToCheck } from './schema/settings-worker.ts';

/** The two halves as an operator enters them; `undefined` protected settings stay, `null` removes them. */
export interface GivenSettings {
  publicSettings?: unknown;
  protectedSettings?: unknown;
}

/**
 * Checks settings against the publisher's schema before they enter a goal state (AZ-C1). Returns every violation by
 * path; for protected ones path and keyword only. A version without a schema accepts any settings; with one, protected
 * settings need a separate part. Kept protected settings are not checked.
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
