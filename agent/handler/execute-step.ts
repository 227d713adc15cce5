import { join } from 'node:path';
import { type CommandName, commandLine } from '#protocol/index.ts';
import { sentenceOf } from '../agent-error.ts';
import type { Step } from '../goal/reconcile.ts';
import type { Journal } from '../journal.ts';
import type { Machine } from '../machine.ts';
import { handlerEnvironmentOf } from './environment.ts';
import { foldersOf, readManifestOf } from './folders.ts';
import { type Outcome, runCommand } from './run-command.ts';

export interface StepExecution {
  machine: Machine;
  step: Step;
  kind: CommandName;
  /** The agent's own environment. */
  environment: Record<string, string | undefined>;
  signal?: AbortSignal;
}

/** Runs the command of a step as the manifest in its folder says it. Never throws for what the handler does. */
export async function executeStep({ machine, step, kind, environment, signal }: StepExecution): Promise<Outcome> {
  const { layout } = machine;
  const { from, handler, version } = step;
  const folders = foldersOf(layout, handler, version);
  const [name = ''] = step.extensions;
  const extension = machine.goalOf(name);
  const sequenceNumber = extension?.sequenceNumber ?? 0;
  let line: string;
  try {
    line = commandLine(readManifestOf(folders.root), kind);
  } catch (error) {
    return { exitCode: null, timedOut: false, output: `There is nothing to run: ${sentenceOf(error)}`, seconds: 0 };
  }
  return await runCommand({
    line,
    root: folders.root,
    environment: handlerEnvironmentOf({
      layout,
      folders,
      handler,
      version,
      extension: name,
      sequenceNumber,
      previous: from === undefined ? undefined : { version: from, root: foldersOf(layout, handler, from).root },
      inherited: environment,
    }),
    timeoutSeconds: extension?.timeouts[kind] ?? 300,
    outputFile: join(folders.logFolder, 'commands', `${name}.${sequenceNumber}.${kind}.log`),
    signal,
  });
}

/** One line about how a command ended; what it wrote only in the file, and only where it failed. */
export function logOutcome(
  journal: Journal,
  { extensions, version }: Step,
  kind: CommandName,
  { exitCode, timedOut, seconds, output }: Outcome,
): void {
  const missing = timedOut ? 'was ended, its time was over' : 'could not run to its end';
  const how = exitCode === null ? missing : `ended with ${exitCode}`;
  const line = `${extensions.join(', ')}: ${kind} ${version} ${how} after ${seconds.toFixed(1)} s.`;
  if (exitCode === 0) journal.info(line);
  else journal.warn(line, { output: output.slice(-2000) });
}
