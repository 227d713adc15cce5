import { judgeStep } from './judge-step.ts';
import type { StepFacts, StepRules } from './step-facts.ts';
import { decidedSteps, openSteps, type PairResult, type StepState } from './words.ts';

const neverSoaked = 10 * 365 * 86_400;

/**
 * Judges the control of a pair by the same function as a step, at the sequence numbers that it has now. `since`: when
 * the pair was drawn.
 */
export function judgeControl(
  facts: StepFacts,
  rules: StepRules,
  since: Date,
  now: Date,
): { result: 'open' | 'failed' | 'void'; dueAt: Date | null } {
  const step = {
    state: 'inFlight',
    cause: null,
    kind: 'settings',
    attempt: 1,
    touched: facts.extensions.map(({ name, declared }) => ({
      name,
      sequenceNumber: declared?.sequenceNumber ?? 0,
      before: null,
      version: declared?.version ?? '',
    })),
    incarnation: 0,
    publishedAt: since,
    deliveredAt: since,
    concludedAt: troubledAt(facts, since),
    healthyAt: null,
    breaks: 0,
    dueAt: null,
  } as const;
  const watching: StepRules = {
    ...rules,
    soakSeconds: neverSoaked,
    retry: { times: 0, afterSeconds: 1, causes: [] },
    onStepFailure: 'leave',
    stage: 'running',
  };
  const { state, dueAt } = judgeStep(step, facts, watching, now);
  if (state === 'failed') return { result: 'failed', dueAt: null };
  return { result: state === 'gone' || state === 'overtaken' ? 'void' : 'open', dueAt };
}

/**
 * Returns since when an extension of the control is not healthy. As for a step whose soak breaks, the time to settle
 * begins with the first one, and no time before the pair counts.
 */
function troubledAt({ extensions }: StepFacts, since: Date): Date | null {
  const times = extensions.flatMap(({ health }) =>
    health === null || health.health === 'healthy' || health.health === 'disabled' ? [] : [health.since],
  );
  const first = times.reduce<Date | null>((least, time) => (least === null || time < least ? time : least), null);
  return first !== null && first < since ? since : first;
}

/** Returns how a pair is resolved (RO-24), from both VMs as one pass judged them; null while it is open. */
export function pairResult(
  step: StepState,
  { changedFailed, control }: { changedFailed: boolean; control: 'open' | 'failed' | 'void' },
): PairResult | null {
  const hasFailed = changedFailed || step === 'reverting' || (isDecided(step) && step !== 'succeeded');
  if (control === 'void') return 'void';
  if (hasFailed) return control === 'failed' ? 'both' : 'changed-first';
  if (control === 'failed') return 'control-first';
  if (step === 'succeeded') return 'neither';
  return (openSteps as readonly StepState[]).includes(step) ? null : 'void';
}

const isDecided = (step: StepState): boolean => (decidedSteps as readonly StepState[]).includes(step);
