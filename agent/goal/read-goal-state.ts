import { extensionNamePattern, type GoalState, goalState, parseHandlerId, parseVersion } from '#protocol/index.ts';

/**
 * Parses a goal state. Names become file and folder names, so their patterns are checked here too. Throws an error that
 * describes the first faults.
 */
export function readGoalState(text: string): GoalState {
  const parsed = goalState.safeParse(JSON.parse(text));
  if (!parsed.success) {
    const faults = parsed.error.issues
      .slice(0, 5)
      .map(({ path, message }) => `/${path.map(String).join('/')} (${message})`);
    throw new Error(`unexpected value at ${faults.join(', ')}`);
  }
  const names = new Set<string>();
  for (const { name, handler, version } of parsed.data.extensions) {
    if (!extensionNamePattern.test(name) || name.length > 64 || names.has(name)) throw new Error('bad extension name');
    if (parseHandlerId(handler) === null) throw new Error(`invalid handler of ${name}`);
    if (parseVersion(version) === null) throw new Error(`invalid version of ${name}`);
    names.add(name);
  }
  return parsed.data;
}
