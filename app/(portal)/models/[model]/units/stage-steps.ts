import type { ShownUnitDetails } from './unit-data.ts';

/** A stage of a unit’s life, and whether the unit has passed it. */
export interface StageStep {
  stage: 'placed' | 'installed' | 'configured' | 'started' | 'upgraded' | 'removed';
  state: 'done' | 'now' | 'next';
  /** When the stage was reached; null if it is not known or not reached. */
  at: string | null;
}

type Facts = Pick<
  ShownUnitDetails,
  'stage' | 'createdAt' | 'enteredAt' | 'removedAt' | 'confirmedVersion' | 'confirmedSettingsVersion'
>;

/** Returns the stages of a unit’s life in order. */
export function stageSteps(unit: Facts): StageStep[] {
  const { stage, createdAt, enteredAt, removedAt, confirmedVersion, confirmedSettingsVersion } = unit;
  const isLeaving = stage === 'leaving' || stage === 'removed';
  const state = (isDone: boolean, isNow: boolean): StageStep['state'] => (isDone ? 'done' : isNow ? 'now' : 'next');
  const isStarted = enteredAt !== null;
  const steps: StageStep[] = [
    { stage: 'placed', state: 'done', at: createdAt },
    { stage: 'installed', state: state(confirmedVersion !== null, stage === 'installing'), at: null },
    { stage: 'configured', state: state(confirmedSettingsVersion !== null, stage === 'configuring'), at: null },
    { stage: 'started', state: state(isStarted, stage === 'starting'), at: enteredAt },
  ];
  if (stage === 'upgrading') return [...steps, { stage: 'upgraded', state: 'now', at: null }];
  if (!isLeaving) return steps;
  return [
    ...steps.filter((step) => step.state === 'done'),
    { stage: 'removed', state: stage === 'removed' ? 'done' : 'now', at: removedAt },
  ];
}
