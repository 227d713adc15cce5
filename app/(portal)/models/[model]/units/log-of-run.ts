import type { LogName, ShownLog } from '#app/(portal)/vms/[vmId]/executions/[executionId]/log/shown-log.ts';
import type { ShownRun } from './unit-data.ts';

export type RunLogName = Extract<LogName, { of: 'run' }>;

/** A hook has no calls that can be folded. */
const noCalls: ShownLog['calls'] = [];

/** Returns the output of a hook as a log. */
export function logOfRun(name: RunLogName, { outcome, begunAt }: Pick<ShownRun, 'outcome' | 'begunAt'>): ShownLog {
  const isLive = outcome === 'running';
  return {
    ...{ name, isLive, begunAt, calls: noCalls, levels: ['warning', 'error'] },
    download: downloadOf(name),
    errorFrom: isLive || outcome === 'succeeded' ? null : 0,
    words: { empty: isLive ? 'log.nothingYet' : 'log.nothing.hook', end: 'log.complete' },
  };
}

/** Returns the address of the output as a file. */
const downloadOf = ({ model, unit, run }: RunLogName): string =>
  `/download/models/${encodeURIComponent(model)}/units/${unit}/runs/${run}/log`;
