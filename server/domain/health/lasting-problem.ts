import type { ExtensionHealthRow } from './load.ts';

type Problem = Pick<ExtensionHealthRow, 'problem' | 'problemSince'>;
type Row = Omit<ExtensionHealthRow, 'problem' | 'problemSince'>;

/**
 * Returns the problem of an extension and when it began. If an extension fails again in the same way after a retry, its
 * problem began with the first failure. `known` is the stored row of the extension.
 */
export function lastingProblem(row: Row, known: ExtensionHealthRow | undefined, now: Date): Problem {
  const { health, cause, command, exitCode, messageId } = row;
  if (health === 'healthy' || health === 'disabled') return { problem: null, problemSince: null };
  const isProblem = (health === 'failed' || health === 'degraded') && cause !== 'waiting' && cause !== 'silent';
  if (!isProblem) return { problem: known?.problem ?? null, problemSince: known?.problemSince ?? null };
  const reported = cause === 'status' || cause === 'substatus' ? messageId : null;
  const problem = JSON.stringify([health, cause, command, exitCode, reported]);
  if (known?.problem === problem) return { problem, problemSince: known.problemSince };
  return { problem, problemSince: known?.problem ? now : row.since };
}
