import { type GoalState, versionKey } from '#protocol/index.ts';
import type { LocalState } from '../../goal/local-state.ts';

/**
 * Returns the goal state with versions spelled as on this machine. If a handler's folder has another spelling of the
 * same version (`1.0.16.0` for `1.0.16`), the agent keeps that folder and the handler's state, and does not install the
 * handler again.
 */
export function inKnownSpelling(goal: GoalState, local: LocalState): GoalState {
  const extensions = goal.extensions.map((one) => {
    const versions = Object.keys(local.handlers[one.handler]?.versions ?? {});
    if (versions.includes(one.version)) return one;
    const known = versions.find((version) => versionKey(version) === versionKey(one.version));
    return known === undefined ? one : { ...one, version: known };
  });
  return { ...goal, extensions };
}
