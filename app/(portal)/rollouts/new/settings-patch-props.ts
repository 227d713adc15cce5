import type { FormFaults } from './faults.ts';
import type { ChangeForm } from './rollout-form.ts';

/** What the parts of the form for settings get: the change, a function that changes it, and the faults. */
export interface SettingsPatchProps {
  change: ChangeForm;
  onChange(change: ChangeForm): void;
  faults: FormFaults;
}
