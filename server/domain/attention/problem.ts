import type { FleetFilter } from '#server/domain/fleet/index.ts';
import { type HealthCause, isOfCommand } from '#server/domain/verdicts/index.ts';

/**
 * VMs whose extensions or units have the same problem, or whose agents became unresponsive together. The VMs whose agents became
 * unresponsive individually form a single problem.
 */
export interface FleetProblem {
  /**
   * Stable: derived from the health, the handler and the cause, or from the minute in which the first agent became
   * unresponsive; a constant for agents that became unresponsive individually.
   */
  key: string;
  /** The health of the extensions or units, or `unresponsive` for agents. */
  health: 'failed' | 'unresponsive' | 'degraded';
  vms: number;
  /** When the first VM got the problem, and when the last VM got it. */
  since: string;
  lastSince: string;
  /** The handler and the cause; null for unresponsive agents. */
  extension: ProblemCause | null;
  /** Whether the agents became unresponsive together; null if the problem is about an extension. */
  silence: Silence | null;
  /**
   * The id of the message that all VMs report: the cause, or the message of their latest status if a command failed.
   * Null if the messages differ, or if there is none.
   */
  messageId: string | null;
  /** Versions of the handler on these VMs, at most 50; empty for unresponsive agents. */
  versions: string[];
  /**
   * Some of the VMs, latest first, and the name and version of the extension on the first of them. Name and version are
   * empty for unresponsive agents.
   */
  sample: { vmIds: string[]; extension: string; version: string };
}

export interface ProblemCause {
  /** Whether the problem is about units. The formula then takes the place of the handler, and the hook of the command. */
  isUnit: boolean;
  handler: string;
  /** The name of the extension or of the unit; null if the names differ. */
  name: string | null;
  cause: HealthCause;
  /** Set if a command failed, or a hook is the cause. */
  command: string | null;
  exitCode: number | null;
  /** Set if a status or substatus is the cause. */
  messageId: string | null;
}

/** Whether agents became unresponsive together or individually. */
export const silences = ['together', 'alone'] as const;
export type Silence = (typeof silences)[number];

/** Returns the filter of the VM list that matches exactly the VMs with this problem. */
export function filterOfProblem(
  problem: Pick<FleetProblem, 'health' | 'extension' | 'silence' | 'since' | 'lastSince'>,
): FleetFilter {
  const { health: state, extension, silence, since, lastSince } = problem;
  if (extension === null) {
    const health: FleetFilter['health'] = ['unresponsive'];
    const alone: object = { silence: [silence] };
    if (silence === 'alone') return { health, ...alone };
    return { health, sinceAfter: since, sinceBefore: new Date(Date.parse(lastSince) + 1).toISOString() };
  }
  const { isUnit, handler, cause, command, exitCode, messageId } = extension;
  if (isUnit) {
    return {
      ...{ formula: handler, unitState: [state], unitCause: [cause] },
      ...(command !== null && { hook: command }),
      ...(exitCode !== null && { hookExitCode: exitCode }),
    };
  }
  return {
    handler,
    state: [state],
    cause: [cause],
    ...(command !== null && { command }),
    ...(command === null && isOfCommand(cause) && { hasCommand: ['no'] }),
    ...(exitCode !== null && { exitCode }),
    ...(messageId !== null && { messageId }),
    ...(messageId === null && isOfMessage(cause) && { hasMessage: ['no'] }),
  };
}

const isOfMessage = (cause: HealthCause): boolean => cause === 'status' || cause === 'substatus';

/** Returns the name of a problem in the activity log, which is the same in every language. */
export function nameOfProblem({ extension, silence, since }: FleetProblem): string {
  if (extension === null) return silence === 'alone' ? 'agent silent' : `agent silent ${since.slice(0, 16)}Z`;
  const { handler, cause, command, exitCode, messageId } = extension;
  return [handler, messageId ?? [command, exitCode ?? (cause === 'exit' ? null : cause)]]
    .flat()
    .filter((part) => part !== null)
    .join(' ');
}
