import { copyFileSync } from 'node:fs';
import type { AgentLayout } from '../folder/layout.ts';
import { replace, sync } from '../folder/write-file.ts';
import { previousOf, type UpdateTrial, writeTrial } from './trial.ts';

/**
 * Replaces the current agent with a downloaded agent, on trial. The previous agent is kept until the trial ends. After
 * a crash at any point, `settleTrial` finds a complete agent.
 */
export function swapAgent(layout: AgentLayout, incoming: string, trial: UpdateTrial): void {
  const previous = previousOf(trial.program);
  const copy = `${previous}.next`;
  copyFileSync(trial.program, copy);
  sync(copy);
  replace(copy, previous);
  sync(incoming);
  writeTrial(layout, trial);
  replace(incoming, trial.program);
}
