import { DomainError } from '#server/domain/error.ts';
import { endedStates, openStates, type RolloutState, rolloutStates } from '#server/domain/rollout-rules/words.ts';

/** An act: the states in which it has an effect, and those in which its effect already holds. */
interface Act {
  from: readonly RolloutState[];
  holds: readonly RolloutState[];
}

const started: readonly RolloutState[] = [...openStates.filter((state) => state !== 'checking'), ...endedStates];

/** The acts of people on rollouts, by the states of a rollout. */
export const acts = {
  edit: {
    from: rolloutStates.filter((state) => !['checking', 'aborting', 'aborted', 'finished'].includes(state)),
    holds: [],
  },
  plan: { from: ['draft', 'planned'], holds: ['planning'] },
  decide: { from: ['planned', 'paused'], holds: [] },
  decideRing: { from: ['scheduled', 'running', 'paused'], holds: [] },
  start: { from: ['planned'], holds: ['checking', 'scheduled', 'running'] },
  unschedule: { from: ['scheduled'], holds: ['planned'] },
  pause: { from: ['running', 'keeping'], holds: ['paused'] },
  resume: { from: ['paused'], holds: ['checking', 'running', 'keeping'] },
  advance: { from: ['running'], holds: [] },
  abort: { from: ['scheduled', 'running', 'paused', 'keeping'], holds: ['aborting', 'aborted'] },
  close: { from: ['keeping'], holds: ['finished'] },
  delete: { from: ['draft', 'planning', 'planned'], holds: [] },
  revert: { from: started, holds: [] },
  retry: { from: started, holds: [] },
} as const satisfies Record<string, Act>;
export type RolloutAct = keyof typeof acts;

/**
 * Whether an act has an effect in this state; false if its effect already holds. Throws 409 `rollout_state` in every
 * other state.
 */
export function hasEffect(name: RolloutAct, state: RolloutState): boolean {
  const { from, holds }: Act = acts[name];
  if (from.includes(state)) return true;
  if (holds.includes(state)) return false;
  throw new DomainError('conflict', 'rollout_state', { params: { state } });
}
