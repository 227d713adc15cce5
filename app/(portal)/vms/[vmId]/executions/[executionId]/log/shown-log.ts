import {
  hasEnded,
  placeOfError,
  type ShownCall,
  type ShownExecutionDetails,
} from '#app/(portal)/executions/execution-data.ts';
import { knownOf } from '#app/(portal)/executions/shown-state.ts';

/** The rows that a log shows: messages, or those of a level and above. */
export type LevelFilter = 'messages' | 'warning' | 'error';

/** Identifies the log of an execution, or of a run of a unit’s hook. */
export type LogName =
  | { of: 'execution'; vmId: string; executionId: string }
  | { of: 'run'; vmId: string; model: string; unit: string; run: string };

/** A log as its card shows it. */
export interface ShownLog {
  /** Keep it the same object while it names the same log. */
  name: LogName;
  isLive: boolean;
  /** When time 0 of the rows was; null if nothing ran. */
  begunAt: string | null;
  /** The calls of an execution’s Body, which can be folded; none for a hook. */
  calls: readonly ShownCall[];
  /** The row at which the search for the first error starts; null if the log needs none. */
  errorFrom: number | null;
  levels: readonly LevelFilter[];
  /** The address of the download. */
  download: string;
  words: { empty: EmptyWord; end: 'log.complete' | 'log.incomplete' };
}

export type EmptyWord =
  | 'log.nothing'
  | 'log.nothingArrived'
  | 'log.nothingRan'
  | 'log.notBegun'
  | 'log.nothingYet'
  | 'log.nothing.hook';

const emptyWords = { all: 'log.nothing', unknown: 'log.nothingArrived', 'nothing-ran': 'log.nothingRan' } as const;

/** Returns the log of an execution. */
export function logOfExecution(name: LogName, execution: ShownExecutionDetails): ShownLog {
  const known = knownOf(execution);
  const empty = execution.begunAt === null ? 'log.notBegun' : 'log.nothingYet';
  return {
    name,
    isLive: !hasEnded(execution),
    begunAt: execution.begunAt,
    calls: execution.calls,
    errorFrom: placeOfError(execution),
    levels: ['messages', 'warning', 'error'],
    download: `/download/vms/${execution.vmId}/executions/${execution.id}/log`,
    words: {
      empty: hasEnded(execution) ? emptyWords[known] : empty,
      end: known === 'unknown' ? 'log.incomplete' : 'log.complete',
    },
  };
}
