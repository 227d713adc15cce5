import type { SentFilter, SentStrategy } from './definition.ts';
import { type RolloutForm, sentFilter } from './rollout-form.ts';

/** Returns the part of a form that a strategy has: rings, gates and what happens to VMs that are silent or fail. */
export function strategyOf(form: RolloutForm): SentStrategy<SentFilter> {
  const { rings, gates, silent, newcomers, onStepFailure, onHalt } = form;
  return {
    rings: rings.map(({ filter, ...ring }) => (filter ? { ...ring, filter: sentFilter(filter) } : ring)),
    ...{ gates, silent, newcomers, onStepFailure, onHalt },
  };
}
