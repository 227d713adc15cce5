import type { LogName, ShownLog } from '#app/(portal)/vms/[vmId]/executions/[executionId]/log/shown-log.ts';
import type { ShownRun } from './unit-data.ts';

/** A hook has no calls that can be folded. */
const noCalls: ShownLog['calls'] = [];

/** Returns the output of a hook as a log. */
export function logOfRun(name: LogName, { outcome, begunAt }: Pick<ShownRun, 'outcome' | 'begunAt'>): ShownLog {
  const isLive = outcome === 'running';
  return {
    ...{ name, isLive, begunAt, calls: noCalls, levels: ['warning', 'error'], download: null },
    errorFrom: isLive || outcome === 'succeeded' ? null : 0,
    words: { empty: isLive ? 'log.nothingYet' : 'log.nothing.hook', end: 'log.complete' },
  };
}
