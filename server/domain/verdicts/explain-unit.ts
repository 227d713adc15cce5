import { retrySeconds } from '#protocol/next-hook.ts';
import { sentence } from './explain-facts.ts';
import { touchLink } from './explain-links.ts';
import type { ExplainedVm, Explanation, Link, Sentence } from './explanation.ts';
import type { HealthCause, VmHealth } from './words.ts';

/** The facts about the worst unit of a VM that an explanation needs. Times are ISO 8601. */
export interface ExplainedUnit {
  unit: string;
  health: VmHealth;
  cause: HealthCause | null;
  /** The hook, or the missing relation, that is the cause. */
  hook: string | null;
  exitCode: number | null;
  since: string;
  /** When an agent first fetched the unit; null before. */
  agentSince: string | null;
  /** The failed attempts of the hook, and when the attempt began that runs now; null if no hook fails. */
  failure: { failures: number; remoteUnit: string | null; runningSince: string | null } | null;
}

/** Causes of which a unit’s hook is the subject, and whose hook runs again. */
const failures: readonly (HealthCause | null)[] = ['exit', 'timeout', 'command', 'retry'];

const leads = {
  exit: 'lead.failed.exit',
  timeout: 'lead.failed.time',
  command: 'lead.unit.command',
  retry: 'lead.unit.retry',
  deadline: 'lead.unit.deadline',
  late: 'lead.unit.late',
  skipped: 'lead.unit.skipped',
  relation: 'lead.unit.relation',
  release: 'lead.unit.release',
  waiting: 'lead.unit.waiting',
} as const;

const titles = {
  exit: 'unit.exit',
  timeout: 'unit.timeout',
  command: 'unit.command',
  retry: 'unit.retry',
  deadline: 'unit.deadline',
  late: 'unit.late',
  skipped: 'unit.skipped',
  relation: 'unit.relation',
  release: 'unit.release',
  waiting: 'unit.waiting',
} as const;

/**
 * Explains why a unit is not done or is degraded: from the agent’s last call, through the agent’s fetch of its units,
 * to the hook and its next attempt. Returns null if the agent explains it alone, or if the unit is healthy.
 */
export function explainUnit(vm: ExplainedVm, unit: ExplainedUnit): Explanation | null {
  const { health, cause } = unit;
  if (vm.agent.status === 'never' || cause === 'silent' || health === 'healthy' || health === 'unknown') return null;
  const links = [touchLink(vm), lookLink(unit)];
  if (unit.agentSince !== null || cause === 'release') links.push(causeLink(unit));
  if (unit.failure !== null && failures.includes(cause)) links.push(againLink(unit.unit, unit.failure));
  return {
    question: health === 'degraded' ? 'degraded' : 'notDone',
    extension: unit.unit,
    lead: words(unit, leads, 'lead.unit.runs'),
    links,
    act: null,
  };
}

/** Returns the sentence for the unit's cause, or the one for a hook that runs. */
function words(
  { unit: name, cause, hook, exitCode }: ExplainedUnit,
  codes: typeof leads | typeof titles,
  running: 'lead.unit.runs' | 'unit.runs',
): Sentence {
  const code = cause !== null && cause in codes ? codes[cause as keyof typeof codes] : running;
  return sentence(code, { name, command: hook ?? '', exit: exitCode ?? 0 });
}

const about = (extension: string) => ({ extension, queueEntry: null, execution: null });

function lookLink({ unit, agentSince }: ExplainedUnit): Link {
  const holds = agentSince !== null;
  const title = holds ? sentence('unit.seen', { name: unit }) : sentence('unit.unseen', { name: unit });
  const detail = holds ? sentence('unit.seen.at', {}, agentSince) : null;
  return { kind: 'delivery', status: holds ? 'healthy' : 'waiting', holds, ...about(unit), title, detail };
}

function causeLink(unit: ExplainedUnit): Link {
  const { health, since, failure } = unit;
  const status = health === 'degraded' ? 'warning' : health === 'failed' ? 'failed' : 'progressing';
  const remote = failure?.remoteUnit ?? null;
  const count = failure?.failures ?? 0;
  const detail =
    failure === null
      ? sentence('unit.since', {}, since)
      : remote === null
        ? sentence('unit.attempts', { count })
        : sentence('unit.attempts.remote', { count, remote });
  return { kind: 'cause', status, holds: false, ...about(unit.unit), title: words(unit, titles, 'unit.runs'), detail };
}

function againLink(unit: string, { failures: count, runningSince }: NonNullable<ExplainedUnit['failure']>): Link {
  if (runningSince !== null) {
    const detail = sentence('unit.since', {}, runningSince);
    return { kind: 'wait', status: 'progressing', holds: false, ...about(unit), title: sentence('unit.runs'), detail };
  }
  const title = sentence('unit.again', { seconds: retrySeconds(count, () => 1) });
  return { kind: 'deadline', status: 'waiting', holds: false, ...about(unit), title, detail: sentence('unit.resolve') };
}
