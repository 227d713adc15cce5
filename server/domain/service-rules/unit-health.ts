import { type AgentStatus, type HealthCause, rankOf, type VmHealth } from '#server/domain/verdicts/words.ts';
import type { FailingHook, SkippedHook } from './stored.ts';

/** Seconds that the agent has to end a hook after its time limit. */
const endingSeconds = 60;
/** This many failed attempts in a row make a unit fail; fewer only delay it. */
const failedAttempts = 3;

/** The facts from which the health of a unit is derived. */
export interface UnitEvidence {
  agent: AgentStatus;
  isLeaving: boolean;
  /** The hook that runs. */
  running: { hook: string; begunAt: Date; timeoutSeconds: number } | null;
  failing: readonly FailingHook[];
  /** The first hook that is due, and when it is late; null while its deadline is paused or something runs before it. */
  due: { hook: string; lateAt: Date | null } | null;
  skipped: readonly SkippedHook[];
  /** A relation that the formula requires and the service does not have. */
  missingRelation: string | null;
  /** Whether protected settings are withheld from the unit's machine until an admin releases them. */
  needsRelease: boolean;
}

/** The health of a unit. `changesAt` is when it may change without news; null if it does not. */
export interface UnitHealth {
  health: VmHealth;
  cause: HealthCause | null;
  /** The hook that is the cause, and its exit code. */
  command: string | null;
  exitCode: number | null;
  deadlineAt: Date | null;
  changesAt: Date | null;
}

type Finding = Pick<UnitHealth, 'health' | 'cause'> & Partial<Pick<UnitHealth, 'command' | 'exitCode'>>;

/** Returns when a running hook is overdue: the agent should have ended it. */
export const overdueAt = ({ begunAt, timeoutSeconds }: { begunAt: Date; timeoutSeconds: number }): Date =>
  new Date(begunAt.getTime() + (timeoutSeconds + endingSeconds) * 1000);

/** Returns the health of a unit. The first line that applies decides. */
export function evaluateUnit(facts: UnitEvidence, now: Date): UnitHealth {
  const { running, due } = facts;
  const deadlineAt = running === null ? null : overdueAt(running);
  const lateAt = due?.lateAt ?? null;
  const coming = [deadlineAt, lateAt].flatMap((at) => (at !== null && at >= now ? [at.getTime() + 1] : []));
  const changesAt = coming.length === 0 ? null : new Date(Math.min(...coming));
  return { command: null, exitCode: null, ...find(facts, now), deadlineAt, changesAt };
}

function find(facts: UnitEvidence, now: Date): Finding {
  const { agent, isLeaving, running, failing, due, skipped, missingRelation, needsRelease } = facts;
  if (agent === 'never') return { health: 'unknown', cause: null };
  if (agent === 'unresponsive') return { health: 'unresponsive', cause: 'silent' };
  if (running !== null && overdueAt(running) < now) {
    return { health: 'failed', cause: 'deadline', command: running.hook };
  }
  const failed = failing.find(hasFailed);
  if (failed !== undefined) return { health: 'failed', ...failureOf(failed) };
  const [retried] = failing;
  if (retried !== undefined) return { health: 'progressing', ...failureOf(retried), cause: 'retry' };
  if (needsRelease) return { health: 'degraded', cause: 'release' };
  if (due !== null && due.lateAt !== null && due.lateAt < now) {
    return { health: 'degraded', cause: 'late', command: due.hook };
  }
  const [mark] = skipped;
  if (mark !== undefined) return { health: 'degraded', cause: 'skipped', command: mark.hook };
  if (missingRelation !== null) return { health: 'degraded', cause: 'relation', command: missingRelation };
  if (running !== null) return { health: 'progressing', cause: null };
  if (due !== null || isLeaving) return { health: 'progressing', cause: 'waiting' };
  return { health: 'healthy', cause: null };
}

const hasFailed = ({ outcome, failures }: FailingHook): boolean =>
  outcome === 'timed-out' || failures >= failedAttempts;

function failureOf({ outcome, hook, exitCode }: FailingHook): Omit<Finding, 'health'> {
  if (outcome === 'timed-out') return { cause: 'timeout', command: hook };
  // The hook ended with 0, and the portal rejected its changes.
  if (outcome === 'refused' || exitCode === null) return { cause: 'command', command: hook };
  return { cause: 'exit', command: hook, exitCode };
}

/** Returns the worst unit, and the first by its place in the list if several are equally bad. */
export function worstUnit<U extends { health: VmHealth }>(units: readonly U[]): U | null {
  return units.reduce<U | null>(
    (worst, unit) => (worst === null || rankOf(unit.health) < rankOf(worst.health) ? unit : worst),
    null,
  );
}
