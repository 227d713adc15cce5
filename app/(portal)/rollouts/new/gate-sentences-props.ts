import type { FormFaults } from './faults.ts';
import type { RolloutForm } from './rollout-form.ts';

/** The form whose limits and gates are shown, and its faults. */
export interface GateSentencesProps {
  form: RolloutForm;
  set(change: Partial<RolloutForm>): void;
  faults: FormFaults;
  /** Whether only lower limits are accepted, because the rollout is running. */
  onlyLower?: boolean;
}
