'use client';

import { useMemo } from 'react';
import type { ChangeForm, RolloutForm } from './rollout-form.ts';
import { forRuns } from './run-parts.ts';
import type { StrategyChoice } from './strategy-choice.ts';

/**
 * Returns the strategies to choose from, and a function that changes the change. A strategy means something else for a
 * run, so a change between the two begins with the parts of the chosen strategy.
 */
export function useStrategies(
  strategies: readonly StrategyChoice[],
  form: RolloutForm,
  set: (change: Partial<RolloutForm>) => void,
): { choices: readonly StrategyChoice[]; changed(change: ChangeForm): void } {
  const isRun = form.change.kind === 'run';
  return {
    choices: useMemo(() => strategiesFor(strategies, isRun), [strategies, isRun]),
    changed(change) {
      const toRun = change.kind === 'run';
      const strategy = strategiesFor(strategies, toRun).find(({ name }) => name === form.strategy);
      set({ change, ...(toRun !== isRun && strategy?.parts) });
    },
  };
}

const strategiesFor = (strategies: readonly StrategyChoice[], isRun: boolean): readonly StrategyChoice[] =>
  isRun ? strategies.map((one) => ({ ...one, parts: forRuns(one.parts) })) : strategies;
