import type { ProcessEnd } from './run-process.ts';

/** Describes the end of a process, or an invalid answer if `end` is null. `what`: a script, or `The Body`. */
export function describedEnd(what: string, end: Pick<ProcessEnd, 'exitCode' | 'signal' | 'fault'> | null): string {
  if (end === null) return `${what} wrote something that is no answer.`;
  if (end.fault !== undefined) return `${what} could not be started: ${end.fault}.`;
  if (end.exitCode === null) return `${what} was ended by ${end.signal ?? 'a signal'}.`;
  return `${what} ended with exit code ${end.exitCode}`;
}
