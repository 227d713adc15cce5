import { type CommandName, commandNames } from './manifest.ts';
import {
  type ExtensionPlan,
  type ExtensionStep,
  type ExtensionTarget,
  type MachineContents,
  markDone,
  noteSuccess,
  type Round,
  reconcile,
} from './reconcile.ts';

/** A handler's command that will run. */
export type CommandStep = ExtensionStep & { kind: CommandName };

/**
 * A target whose package need not be on the machine yet. `installsInUpdate`: whether the target's update also runs
 * install.
 */
export type PredictedTarget = ExtensionTarget & { readonly installsInUpdate: boolean };

/** A machine, and what its agent has done in the current round. */
export interface MachineState {
  contents: MachineContents;
  round: Round;
}

export interface Prediction {
  /** The current plan: packages to fetch, steps that can run, and extensions that must wait. */
  now: ExtensionPlan;
  /** The commands that will run, in order, if every command succeeds. */
  commands: CommandStep[];
  /** Extensions that still wait for another extension after these commands. */
  blocked: ExtensionPlan['waiting'];
}

/** Ensures that the loop ends. Larger than the number of iterations that any goal state needs. */
const maxRounds = 20_000;

/**
 * Predicts what a machine runs until it reaches a goal state. Uses the agent's own planner. Changes `contents` and
 * `round`.
 */
export function predictCommands(targets: readonly PredictedTarget[], { contents, round }: MachineState): Prediction {
  const now = reconcile(targets, contents, round);
  const commands: CommandStep[] = [];
  let plan = now;
  for (let rounds = 0; rounds < maxRounds; rounds += 1) {
    const steps = unconditional(plan);
    if (steps.length === 0) break;
    for (const step of steps) {
      if (isCommand(step)) commands.push(step);
      complete(step, targets, contents, round);
    }
    plan = reconcile(targets, contents, round);
  }
  return { now, commands, blocked: plan.waiting };
}

/**
 * If a plan has fetches, returns them. Otherwise, returns its steps up to the first enable that other extensions wait
 * for, because that enable changes the plan.
 */
function unconditional({ steps, waiting }: ExtensionPlan): ExtensionStep[] {
  const fetches = steps.filter(({ kind }) => kind === 'fetch');
  if (fetches.length > 0) return fetches;
  const awaited = new Set(waiting.map(({ blockedBy }) => blockedBy));
  const last = steps.findIndex(
    ({ kind, extensions }) => kind === 'enable' && extensions.some((one) => awaited.has(one)),
  );
  return last < 0 ? steps : steps.slice(0, last + 1);
}

/** Whether a step is a command of a handler, and not a task of the agent. */
export const isCommand = (step: ExtensionStep): step is CommandStep =>
  (commandNames as readonly string[]).includes(step.kind);

function complete(
  step: ExtensionStep,
  targets: readonly PredictedTarget[],
  contents: MachineContents,
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
