import type { SchemaOfVersion, SettingWordsByPointer } from '../../vms/[vmId]/extensions/_editor/use-schema.ts';
import type { FormFaults } from './faults.ts';
import type { ChangeForm } from './rollout-form.ts';

/** What the parts of the form for settings get: the change, a function that changes it, and the faults. */
export interface SettingsPatchProps {
  change: ChangeForm;
  onChange(change: ChangeForm): void;
  faults: FormFaults;
  /** The settings that the page was loaded with; null if it had no handler. */
  loaded: LoadedSchema | null;
}

/** The schema of a handler's version, loaded with the page. `version` is the newest one if the change names none. */
export interface LoadedSchema {
  handler: string;
  version: string;
  schema: SchemaOfVersion;
  words: SettingWordsByPointer;
}
