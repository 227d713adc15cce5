import { join } from 'node:path';
import { type CommandName, commandLine, type ExtensionStep } from '#protocol/index.ts';
import { sentenceOf } from '../../agent-error.ts';
import { handlerEnvironmentOf } from '../../handler/environment.ts';
import { carryOver, foldersOf, isUnpacked, readManifestOf } from '../../handler/folders.ts';
import { pruneOutputs } from '../../handler/prune.ts';
import { type Outcome, resumeCommand, runCommand } from '../../handler/run-command.ts';
import { type CommandRecord, RunningCommand } from '../../handler/running-command.ts';
import { secretsOf } from '../../handler/secrets-of.ts';
import type { Journal } from '../../journal.ts';
import type { Machine } from '../machine.ts';

export interface StepExecution {
  machine: Machine;
  journal: Journal;
  step: ExtensionStep;
  kind: CommandName;
  attempt: number;
  /** Exit codes of earlier commands, as environment variables. */
  exitCodes: Record<string, string>;
  /** The agent's own environment. */
  environment: Record<string, string | undefined>;
  signal?: AbortSignal;
}

/** Folder for command output within a handler's log folder. */
const outputs = 'commands';

/** Runs the command of a step as the manifest says. Does not throw, whatever the handler does. */
export async function executeStep(execution: StepExecution): Promise<Outcome> {
  const { machine, journal, step, kind, attempt, exitCodes, environment, signal } = execution;
  const { layout } = machine;
  const { from, handler, version } = step;
  const folders = foldersOf(layout, handler, version);
  const extensions = step.extensions.map((name) => ({
    name,
    sequenceNumber: machine.goalOf(name)?.sequenceNumber ?? machine.local.extensions[name]?.sequenceNumber ?? 0,
  }));
  const { name = '', sequenceNumber = 0 } = extensions[0] ?? {};
  const previous = from === undefined ? undefined : foldersOf(layout, handler, from);
  let line: string;
  try {
    line = commandLine(readManifestOf(folders.root), kind);
    if (previous !== undefined) carryOver(previous, folders);
  } catch (error) {
    const output = isUnpacked(folders.root)
      ? `There is nothing to run: ${sentenceOf(error)}`
      : `There is nothing to run: the package that was unpacked in ${folders.root} is gone. It is fetched again with the next goal state, or when the agent starts.`;
    return { exitCode: null, timedOut: false, output, seconds: 0 };
  }
  pruneOutputs(folders.logFolder, outputs);
  return await runCommand({
    line,
    root: folders.root,
    environment: handlerEnvironmentOf({
      layout,
      folders,
      handler,
      version,
      extension: name,
      isNamed: machine.versionOf(step)?.supportsMultipleExtensions === true,
      sequenceNumber,
      previous: from === undefined || previous === undefined ? undefined : { version: from, root: previous.root },
      exitCodes,
      inherited: environment,
    }),
    record: {
      kind,
      handler,
      version,
      purpose: step.purpose,
      from,
      extensions,
      attempt,
      timeoutSeconds: machine.goalOf(name)?.timeouts[kind] ?? 300,
      boot: machine.boot,
      outputFile: join(folders.logFolder, outputs, `${name}.${sequenceNumber}.${kind}.${attempt}.log`),
    },
    running: new RunningCommand(layout.command),
    secrets: secretsFor({ machine, journal }, step),
    signal,
  });
}

/**
 * Waits for the command that was running when the agent was killed. Returns the command and its outcome; null if no
 * command was running or its outcome is unknown.
 */
export async function resumeStep({
  machine,
  journal,
  signal,
}: Pick<StepExecution, 'machine' | 'journal' | 'signal'>): Promise<{ record: CommandRecord; outcome: Outcome } | null> {
  const running = new RunningCommand(machine.layout.command);
  const record = running.read();
  if (record === null) return null;
  const outcome = await resumeCommand(running, record, secretsFor({ machine, journal }, record), signal);
  if (outcome === null) {
    journal.warn(
      `It is not known how ${record.kind} of ${record.handler} ended, because the agent was killed while it ran.`,
    );
  }
  return outcome === null ? null : { record, outcome };
}

/** Deletes the record of the last command. Call it only once the outcome is stored or known to be lost. */
export function forgetCommand({ layout }: Machine): void {
  new RunningCommand(layout.command).forget();
}

/**
 * Returns a handler's secrets, including those of the replaced version, because the new version can still read them.
 */
function secretsFor(
  { machine: { layout, goal }, journal }: Pick<StepExecution, 'machine' | 'journal'>,
  { handler, version, from }: Pick<ExtensionStep, 'handler' | 'version' | 'from'>,
): string[] {
  const versions = from === undefined ? [version] : [version, from];
  return secretsOf(
    layout,
    versions.map((each) => foldersOf(layout, handler, each).configFolder),
    goal,
    journal,
  );
}

/** Logs in one line how a command ended. If it failed, adds the end of its output as a field. */
export function logOutcome(
  journal: Journal,
  { extensions, version }: Pick<ExtensionStep, 'extensions' | 'version'>,
  kind: CommandName,
  { exitCode, timedOut, seconds, output }: Outcome,
): void {
  const missing = timedOut ? 'was ended at its timeout' : 'could not complete';
  const how = exitCode === null ? missing : `exited with ${exitCode}`;
  const line = `${extensions.join(', ')}: ${kind} ${version} ${how} after ${seconds.toFixed(1)} s.`;
  if (exitCode === 0) journal.info(line);
  else journal.warn(line, { output: output.slice(-2000) });
}
