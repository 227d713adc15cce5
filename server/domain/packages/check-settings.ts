import type { SettingsSchema } from '#db/schema/index.ts';
import type { Fault } from '#server/domain/error.ts';
import type { Limits } from '#server/platform/limits.ts';
import { runSchemas } from './schema/run-schema.ts';
import type { SchemaTask } from './schema/schema-worker.ts';

/** The two halves as an operator gives them; `undefined` protected settings are kept ones, `null` none. */
export interface GivenSettings {
  publicSettings?: unknown;
  protectedSettings?: unknown;
}

/**
 * Checks settings against the publisher's schema before they enter a goal state (AZ-C1); every violation by path, of
 * protected ones path and keyword only. A version without a schema takes any settings; with one, protected settings
 * need a part of their own. Kept protected settings are not looked at.
 */
export async function checkSettings(
  schema: SettingsSchema | null,
  settings: GivenSettings,
  limits: Limits,
): Promise<Fault[]> {
  if (schema === null) return [];
  const tasks: SchemaTask = [];
  const { publicSettings = {}, protectedSettings } = settings;
  if (schema.publicSettings !== undefined) {
    tasks.push({ half: 'publicSettings', schema: schema.publicSettings, settings: { value: publicSettings } });
  }
  if (schema.protectedSettings !== undefined && protectedSettings !== undefined) {
    const value = protectedSettings ?? {};
    tasks.push({ half: 'protectedSettings', schema: schema.protectedSettings, settings: { value } });
  }
  const faults = await runSchemas(tasks, limits);
  if (schema.protectedSettings === undefined && protectedSettings !== undefined && protectedSettings !== null) {
    faults.push({ path: '/protectedSettings', code: 'protected_not_accepted' });
  }
  return faults;
}
