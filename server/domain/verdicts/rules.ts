import {
  type CommandName,
  type GoalStateExtension,
  type HandlerReport,
  type HeartbeatDocument,
  type StatusWord,
  usualCommands,
} from '#protocol/index.ts';
import { noPauses, type Pauses, withoutPauses } from './pauses.ts';
import {
  type AgentStatus,
  type ExtensionHealth,
  type HealthCause,
  type HeartbeatVerdict,
  unresponsiveSeconds,
  type VmHealth,
  vmHealths,
} from './words.ts';

type Goal = GoalStateExtension['state'];

/** Grace period in seconds: how late a reading or an announced call may be. */
export const graceSeconds = 30;
/** A heartbeat file older than this many seconds when it was read does not show that the handler works. */
export const freshHeartbeatSeconds = 60;
/** A transitioning or warning status file older than this many seconds when it was read is stale. */
export const staleFileSeconds = 150;
/** Seconds allowed for reading the status file after the last command. */
export const statusReadingSeconds = 300;

/** A PostgreSQL interval. An agent that polled within it counts as polling; any other agent only sends reports. */
export const pollsWithin = '90 seconds';

export const secondsBetween = (from: Date, to: Date): number => (to.getTime() - from.getTime()) / 1000;

/**
 * A heartbeat file as the agent read it. `readAt` is by the portal's clock; `ageSeconds` is the file's age at that
 * time.
 */
export interface HeartbeatReading {
  status: HeartbeatDocument['status'];
  ageSeconds: number;
  readAt: Date;
}

interface HeartbeatFacts {
  status: HeartbeatReading['status'];
  /** The file's age when it was read, in seconds. */
  age: number;
  /** The file's age now, in seconds, assuming that the file has not changed. */
  ageNow: number;
  overdue: boolean;
}

/** The first row that applies decides the verdict (AZ-H3). */
const heartbeatTable: readonly [HeartbeatVerdict, (facts: HeartbeatFacts) => boolean][] = [
  ['unresponsive', ({ overdue, ageNow }) => overdue && ageNow > unresponsiveSeconds],
  ['unknown', ({ overdue }) => overdue],
  ['unresponsive', ({ age }) => age > unresponsiveSeconds],
  ['notready', ({ status }) => status === 'notready'],
  ['ready', ({ age }) => age <= freshHeartbeatSeconds],
  ['unknown', () => true],
];

/**
 * Returns the verdict of a heartbeat now. The last reading counts until the next reading is due (`periodSeconds`), plus
 * the grace period. The verdict is `none` for a handler that did not opt in (AZ-H4), and for a handler that has sent
 * nothing, unless the extension has been enabled for longer than a period plus the grace period.
 */
export function heartbeatVerdict(
  input: { optedIn: boolean; reading: HeartbeatReading | null; periodSeconds: number; enabledAt: Date | null },
  now: Date,
): HeartbeatVerdict {
  const { optedIn, reading, periodSeconds, enabledAt } = input;
  const due = periodSeconds + graceSeconds;
  if (!optedIn) return 'none';
  if (reading === null) return enabledAt !== null && secondsBetween(enabledAt, now) > due ? 'unknown' : 'none';
  const elapsed = Math.max(0, secondsBetween(reading.readAt, now));
  const { status, ageSeconds: age } = reading;
  const facts = { status, age, ageNow: age + elapsed, overdue: elapsed > due };
  return heartbeatTable.find(([, fits]) => fits(facts))?.[0] ?? 'unknown';
}

/**
 * Returns the number of seconds for which a status has been stale; null if it is not stale (AZ-S4). A terminal status
 * never becomes stale.
 */
export function staleFor(
  status: { status: StatusWord; ageSeconds: number; readAt: Date },
  periodSeconds: number,
  now: Date,
): number | null {
  if (status.status === 'success' || status.status === 'error') return null;
  const elapsed = Math.max(0, secondsBetween(status.readAt, now));
  const overdueFor = elapsed - periodSeconds - graceSeconds;
  const tooOldFor = status.ageSeconds > staleFileSeconds ? status.ageSeconds + elapsed - staleFileSeconds : 0;
  const stale = Math.max(overdueFor, tooOldFor);
  return stale > 0 ? stale : null;
}

/**
 * If the next call is announced at least this many seconds ahead, silence is expected, because the stock agent does not
 * call while a command runs.
 */
export const silenceSeconds = 1_200;

/**
 * Returns `never` before the first call; `ready` until the time of the announced call plus the grace period, then
 * `unknown`; `unresponsive` after 10 minutes without a call (AZ-S6). If the agent announced at least `silenceSeconds`
 * of silence, its status is `unresponsive` only when that time plus the grace period has passed.
 */
export function agentStatus(presence: { lastSeenAt: Date; nextExpectedAt: Date } | null, now: Date): AgentStatus {
  if (presence === null) return 'never';
  const promised = secondsBetween(presence.lastSeenAt, presence.nextExpectedAt);
  const longest = promised >= silenceSeconds ? promised + graceSeconds : unresponsiveSeconds;
  if (secondsBetween(presence.lastSeenAt, now) > longest) return 'unresponsive';
  return secondsBetween(presence.nextExpectedAt, now) <= graceSeconds ? 'ready' : 'unknown';
}

/** Whether the agent had missed its announced call or had never called. If so, a call now is a visible change. */
export const wasAway = (presence: { lastSeenAt: Date; nextExpectedAt: Date } | null, now: Date): boolean =>
  agentStatus(presence, now) !== 'ready';

/** `wasAway` in SQL, as a condition on a row of `agent_presence`. A test compares the two. */
export const awaySql = (row: string, now: string): string =>
  `(${row}.next_expected_at + interval '${graceSeconds} seconds' < ${now}
    or ${row}.next_expected_at - ${row}.last_seen_at < interval '${silenceSeconds} seconds'
      and ${row}.last_seen_at + interval '${unresponsiveSeconds} seconds' < ${now})`;

/**
 * Returns when a goal must be concluded. The allowed time is the sum of its commands' timeouts plus the time to read
 * the status. Time in which deadlines were paused does not count. The time starts at the delivery (without a delivery,
 * at the change) or at the end of a wait, whichever is later.
 */
export function deadlineOf(goal: {
  state: Goal;
  timeouts: Readonly<Record<CommandName, number>>;
  /** The planned commands; null if unknown. */
  commands: readonly CommandName[] | null;
  changedAt: Date;
  deliveredAt: Date | null;
  /** The time until which the extension may wait for its dependencies and its turn. */
  waitsUntil?: Date | null;
  pauses?: Pick<Pauses, 'past'>;
}): Date {
  const commands = goal.commands ?? usualCommands(goal.state);
  const seconds = commands.reduce((sum, command) => sum + goal.timeouts[command], statusReadingSeconds);
  const delivered = (goal.deliveredAt ?? goal.changedAt).getTime();
  const from = Math.max(delivered, goal.waitsUntil?.getTime() ?? 0);
  return withoutPauses(new Date(from), seconds, goal.pauses ?? noPauses);
}

/** The facts from which the health of an extension is derived. */
export interface HealthEvidence {
  agent: AgentStatus;
  goal: { state: Goal; sequenceNumber: number };
  handler: Pick<HandlerReport, 'state' | 'sequenceNumber' | 'exitCode' | 'timedOut' | 'blockedBy'> | null;
  heartbeat: HeartbeatVerdict;
  /** `partFailed` is whether a substatus has an error. */
  status: { status: StatusWord; sequenceNumber: number; stale: boolean; partFailed: boolean } | null;
  /** Whether the deadline passed before a `success` or `error` concluded the goal's sequence number. */
  deadlinePassed: boolean;
}

const ofGoal = (report: { sequenceNumber: number } | null, { goal }: HealthEvidence): boolean =>
  report !== null && report.sequenceNumber >= goal.sequenceNumber;

const current = (facts: HealthEvidence): HealthEvidence['handler'] =>
  ofGoal(facts.handler, facts) ? facts.handler : null;

type LastCommand = Pick<HandlerReport, 'state'> & { exitCode?: number | null; timedOut: boolean };

/** Whether a handler's last command ended without success. */
export const lastCommandFailed = ({ state, exitCode, timedOut }: LastCommand): boolean =>
  timedOut || (exitCode ?? 0) !== 0 || state === 'failed';

/**
 * Whether the last command failed, for this sequence number or a later number. The agent retries a failed command only
 * on a new goal state or when it starts.
 */
export const hasFailed = (
  handler: (LastCommand & { sequenceNumber: number }) | null,
  sequenceNumber: number,
): boolean => handler !== null && handler.sequenceNumber >= sequenceNumber && lastCommandFailed(handler);

/** States in which a handler is running a command. */
export const runningStates: readonly HandlerReport['state'][] = [
  'installing',
  'updating',
  'enabling',
  'disabling',
  'uninstalling',
];

/** Whether a handler in this state is running a command. */
export const isRunningState = (state: HandlerReport['state']): boolean => runningStates.includes(state);

/** Whether the handler's commands wait for another extension. */
export const isWaiting = (handler: { state: HandlerReport['state']; blockedBy?: string | null } | null): boolean =>
  handler !== null && (handler.state === 'waiting' || (handler.blockedBy ?? null) !== null);

/** The first row that applies decides the health and its cause (AZ-S6). */
const healthTable: readonly [ExtensionHealth, HealthCause | null, (facts: HealthEvidence) => boolean][] = [
  ['unknown', null, ({ agent }) => agent === 'never'],
  ['unresponsive', 'silent', ({ agent }) => agent === 'unresponsive'],
  ['disabled', null, ({ goal, handler }) => goal.state === 'disabled' && handler?.state === 'disabled'],
  ['failed', 'timeout', (facts) => current(facts)?.timedOut === true],
  ['failed', 'exit', (facts) => (current(facts)?.exitCode ?? 0) !== 0],
  ['failed', 'command', (facts) => current(facts)?.state === 'failed'],
  ['failed', 'status', (facts) => facts.status?.status === 'error' && ofGoal(facts.status, facts)],
  ['degraded', 'heartbeat', ({ heartbeat }) => heartbeat === 'unresponsive' || heartbeat === 'notready'],
  ['failed', 'deadline', ({ deadlinePassed }) => deadlinePassed],
  ['progressing', null, (facts) => facts.handler !== null && !ofGoal(facts.handler, facts)],
  ['progressing', 'waiting', ({ handler }) => isWaiting(handler)],
  ['progressing', null, (facts) => !ofGoal(facts.status, facts)],
  ['progressing', 'stale', ({ status }) => status?.status === 'transitioning' && status.stale],
  ['progressing', null, ({ status }) => status?.status === 'transitioning'],
  ['degraded', 'substatus', ({ status }) => status?.partFailed === true],
  ['degraded', 'status', ({ status }) => status?.status === 'warning'],
  ['degraded', 'stale', ({ status }) => status?.stale === true],
  ['degraded', 'heartbeat', ({ heartbeat }) => heartbeat === 'unknown'],
  ['healthy', null, () => true],
];

/** Returns the health of an extension and its cause. */
export function evaluateExtensionHealth(facts: HealthEvidence): { health: ExtensionHealth; cause: HealthCause | null } {
  const line = healthTable.find(([, , fits]) => fits(facts));
  return { health: line?.[0] ?? 'unknown', cause: line?.[1] ?? null };
}

/**
 * Returns the health of a VM: `unresponsive` if its agent is, otherwise the worst health among its extensions, not
 * counting disabled extensions (AZ-S6). If there are no extensions to count, the health is `healthy` if the agent is
 * ready, otherwise `unknown`.
 */
export function evaluateVmHealth(agent: AgentStatus, extensions: readonly ExtensionHealth[]): VmHealth {
  if (agent === 'unresponsive') return 'unresponsive';
  const worst = vmHealths.find((health) => extensions.includes(health));
  return worst ?? (agent === 'ready' ? 'healthy' : 'unknown');
}
