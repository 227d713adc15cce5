import {
  byName,
  type CommandName,
  type MachineContents,
  type MachineState,
  markDone,
  newRound,
  type Round,
  reconcile,
  runOrder,
  type VersionOnMachine,
  versionKey,
} from '#protocol/index.ts';
import { isRunningState } from '#server/domain/verdicts/index.ts';
import type { QueuedGoal, ReportedExtension } from './queue-facts.ts';

/** What the portal knows about a machine from reports, and what its agent has done in the current round. */
export interface KnownMachine extends MachineState {
  running: CurrentCommand | null;
}

export interface CurrentCommand {
  handler: string;
  /** The extensions that share the command, sorted by name. */
  extensions: string[];
  command: CommandName;
  version: string;
  /** When the report of the running command arrived, ISO 8601. */
  since: string;
  /** The turn of the goal state for which the command runs; null if the agent did not say. */
  turn: number | null;
  /** Whether the command belongs to the agent's current round. */
  isCurrent: boolean;
}

type Reported = ReportedExtension & { report: NonNullable<ReportedExtension['report']>; reportedAt: string };

/**
 * Derives, from the last reports, what a machine has and what its agent has done for `goal` so far. Reports about
 * another goal state, or from before the agent's last start, do not count as progress. A pure function.
 */
export function knownMachine(goal: QueuedGoal, reports: readonly ReportedExtension[]): KnownMachine {
  const reported = reports
    .filter((one): one is Reported => one.report !== null && one.reportedAt !== null)
    .sort(byTime);
  const contents: MachineContents = { handlers: byName(), extensions: byName() };
  for (const sameHandler of Map.groupBy(reported, ({ handler }) => handler).values()) {
    noteContents(sameHandler, goal, contents);
  }
  const round = newRound();
  const current = reported.filter((one) => isOfRound(one, goal, reported));
  for (const one of current) noteProgress(one, goal, round);
  const order = runOrder(goal.extensions);
  for (const one of current) noteEarlierSteps(one, order, contents, round);
  return { contents, round, running: runningCommand(reported, current, goal) };
}

/** Orders the oldest report first. Reports that arrived together are ordered by round. */
function byTime(a: Reported, b: Reported): number {
  if (a.reportedAt !== b.reportedAt) return a.reportedAt < b.reportedAt ? -1 : 1;
  return (a.report.work?.round ?? -1) - (b.report.work?.round ?? -1);
}

/** Whether a report is about the agent's current round of work on `goal`. */
function isOfRound({ report, reportedAt }: Reported, goal: QueuedGoal, reported: readonly Reported[]): boolean {
  // Agents of the first release do not say what they work on, so every report that arrives after the delivery counts.
  if (report.work === undefined) return goal.deliveredAt !== null && reportedAt >= goal.deliveredAt;
  const newest = reported.findLast((one) => one.report.work !== undefined)?.report.work;
  const { turn, round } = report.work;
  return round !== undefined && turn === goal.turn && newest?.turn === turn && newest.round === round;
}

/** Adds a handler's versions on the machine to `contents`, and the version that each of its extensions uses. */
function noteContents(reported: readonly Reported[], goal: QueuedGoal, contents: MachineContents): void {
  const newest = reported.at(-1);
  if (newest === undefined) return;
  const { handler, report } = newest;
  const targets = goal.extensions.filter((one) => one.handler === handler);
  const targetOf = (version: string) => targets.find((one) => versionKey(one.version) === versionKey(version));
  const stages = report.work?.versions ?? (report.version === undefined ? {} : { [report.version]: 'installed' });
  const versions: Record<string, VersionOnMachine> = byName();
  for (const [version, stage] of Object.entries(stages)) {
    // `reconcile` compares versions, and throws for text that is not a version.
    if (versionKey(version) === null) continue;
    const target = targetOf(version);
    versions[target?.version ?? version] = {
      sha256: target?.package.sha256 ?? '',
      installed: stage === 'installed',
      updated: stage === 'updated',
      updatesWithInstall: target?.installsInUpdate,
    };
  }
  // If an install or update of the target's version has begun, its package is on the machine.
  const { command } = report;
  const target = report.work === undefined ? ofReport(newest, targets) : targetOf(report.work.commandVersion ?? '');
  if (target !== undefined && (command === 'install' || command === 'update')) {
    const {
      installsInUpdate: updatesWithInstall,
      package: { sha256 },
    } = target;
    versions[target.version] ??= { sha256, installed: false, updatesWithInstall };
  }
  contents.handlers[handler] = { versions };
  for (const [name, version] of Object.entries(report.work?.extensions ?? usedVersions(reported))) {
    contents.extensions[name] = { version: targetOf(version)?.version ?? version };
  }
}

/**
 * Returns the version that each extension last used, for agents that do not report these versions. Uses the version of
 * the extension's last command.
 */
const usedVersions = (reported: readonly Reported[]): Record<string, string> =>
  Object.fromEntries(
    reported.flatMap(({ name, report }) =>
      report.command === undefined || report.version === undefined || report.state === 'removed'
        ? []
        : [[name, report.version]],
    ),
  );

/** Records in `round` how an extension's last command ended, if it has ended, and the extension's last status. */
function noteProgress(one: Reported, goal: QueuedGoal, round: Round): void {
  const { name, report, status } = one;
  const target = goal.extensions.find((each) => each.name === name);
  if (target === undefined) return;
  if (report.state === 'failed') round.failed.add(name);
  else if (report.state === 'removed') markDone({ kind: 'forget', version: target.version, extensions: [name] }, round);
  else if (report.command !== undefined && !isRunning(one)) {
    markDone({ kind: report.command, version: versionOf(report, target.version), extensions: [name] }, round);
  }
  if (status?.sequenceNumber === target.sequenceNumber) round.statuses[name] = status.word;
}

/** Marks the commands that come before an extension's last command as done, unless the last command failed. */
function noteEarlierSteps(
  { name, report }: Reported,
  targets: QueuedGoal['extensions'],
  contents: MachineContents,
  round: Round,
): void {
  const target = targets.find((one) => one.name === name);
  if (target === undefined || report.command === undefined || report.state === 'failed') return;
  const last = `${report.command}@${versionOf(report, target.version)}`;
  const isDone = round.done[name]?.delete(last) ?? false;
  // The steps of an extension depend only on the extensions of its handler and on the extensions that these wait for.
  // Planning all extensions for each extension would block the portal.
  const sharing = targets.filter(({ handler }) => handler === target.handler);
  const awaited = new Set(sharing.flatMap(({ dependsOn }) => dependsOn));
  const related = targets.filter((one) => one.handler === target.handler || awaited.has(one.name));
  const steps = reconcile(related, contents, round).steps.filter(
    (step) => step.kind !== 'fetch' && step.extensions.includes(name),
  );
  const at = steps.findIndex((step) => `${step.kind}@${step.version}` === last);
  for (const step of at < 0 ? [] : steps.slice(0, at)) markDone({ ...step, extensions: [name] }, round);
  if (isDone) round.done[name]?.add(last);
}

/**
 * Returns the version whose command an extension ran last. Agents of the first release do not report this version, so
 * it is derived.
 */
function versionOf({ work, command, version }: Reported['report'], target: string): string {
  if (work?.commandVersion !== undefined) return work.commandVersion;
  return command === 'install' || command === 'update' ? target : (version ?? target);
}

/** Returns the target that a report is about; undefined if the report is about an earlier target. */
const ofReport = ({ name, report }: Reported, targets: QueuedGoal['extensions']) =>
  targets.find((one) => one.name === name && one.sequenceNumber === report.sequenceNumber);

const isRunning = ({ hasOutput, report: { state, exitCode, timedOut } }: Reported): boolean =>
  isRunningState(state) && exitCode === undefined && !timedOut && !hasOutput;

/** Returns the machine's last command if it has not ended. Only one command runs at a time (AZ-G2). */
function runningCommand(
  reported: readonly Reported[],
  current: readonly Reported[],
  goal: QueuedGoal,
): CurrentCommand | null {
  const last = reported.findLast(isRunning);
  const command = last?.report.command;
  if (last === undefined || command === undefined) return null;
  // Reports that arrived together have the same time, so only a later report shows that the command has ended.
  if (reported.some(({ report, reportedAt }) => report.command !== undefined && reportedAt > last.reportedAt)) {
    return null;
  }
  // A round begins only after the previous command has ended. If a later round was reported, a command without an
  // outcome ended when the agent stopped.
  const { round } = last.report.work ?? {};
  if (reported.some(({ report }) => (report.work?.round ?? 0) > (round ?? Number.POSITIVE_INFINITY))) return null;
  const target = ofReport(last, goal.extensions)?.version;
  const version = versionOf(last.report, target ?? last.report.version ?? '');
  const sharing = reported.filter(
    (one) => one.handler === last.handler && one.report.command === command && isRunning(one),
  );
  const isShared = command !== 'enable' && command !== 'disable';
  return {
    handler: last.handler,
    extensions: isShared ? sharing.map(({ name }) => name).sort() : [last.name],
    command,
    version,
    since: last.reportedAt,
    turn: last.report.work?.turn ?? null,
    isCurrent: current.includes(last),
  };
}
