import {
  type CommandName,
  commandNames,
  type ExtensionPlan,
  type ExtensionStep,
  type ExtensionTarget,
  markDone,
  nextCommand,
  noteSuccess,
  type Round,
  reconcile,
} from '#protocol/index.ts';
import type { KnownMachine } from './known-machine.ts';

/** A command of a handler that will run. */
export type CommandStep = ExtensionStep & { kind: CommandName };

type Target = ExtensionTarget & { installsInUpdate: boolean };

export interface Prediction {
  /** The plan as it is now: steps that can run, packages to fetch, and what waits. */
  now: ExtensionPlan;
  /** The commands that will run if every command succeeds, in order. */
  commands: CommandStep[];
  /** Extensions that still wait for another one after these commands. */
  blocked: ExtensionPlan['waiting'];
}

/** More steps than any goal state has, so that the loop always ends. */
const maxSteps = 20_000;

/**
 * Predicts what a machine runs until it reaches a goal state, by the agent's own rule. Changes `contents` and `round`.
 */
export function predictCommands(
  targets: readonly Target[],
  { contents, round }: Omit<KnownMachine, 'running'>,
): Prediction {
  const now = reconcile(targets, contents, round);
  const commands: CommandStep[] = [];
  let plan = now;
  for (let count = 0; count < maxSteps; count += 1) {
    const step = plan.steps.find(({ kind }) => kind === 'fetch') ?? nextCommand(plan);
    if (step === undefined) break;
    if (isCommand(step)) commands.push(step);
    complete(step, targets, contents, round);
    plan = reconcile(targets, contents, round);
  }
  return { now, commands, blocked: plan.waiting };
}

/** Whether a step is a command of a handler, and not a task of the agent. */
export const isCommand = (step: ExtensionStep): step is CommandStep =>
  (commandNames as readonly string[]).includes(step.kind);

/** Records that a step succeeded. */
function complete(
  step: ExtensionStep,
  targets: readonly Target[],
  contents: KnownMachine['contents'],
  round: Round,
): void {
  const { kind, handler, version, extensions } = step;
  contents.handlers[handler] ??= { versions: {} };
  const { versions } = contents.handlers[handler];
  const target = targets.find((one) => one.handler === handler && one.version === version);
  if (kind === 'fetch') {
    const { sha256 } = target?.package ?? { sha256: '' };
    versions[version] = {
      installed: false,
      updatesWithInstall: target?.installsInUpdate,
      ...versions[version],
      sha256,
    };
    return;
  }
  if (kind === 'delete') delete versions[version];
  else if (isCommand(step)) noteSuccess(step, contents);
  for (const name of extensions) {
    if (kind === 'configure') contents.extensions[name] ??= { version };
    if (kind === 'forget') delete contents.extensions[name];
    if (kind === 'enable') round.statuses[name] = 'success';
  }
  markDone(step, round);
}
