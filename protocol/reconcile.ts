import { type Dependent, runOrder } from './dependencies.ts';
import type { GoalStateExtension } from './goal-state.ts';
import { goalCommand, type HandlerStep, removalSteps, type StepPurpose, versionSteps } from './steps.ts';

/** A step of a plan: a handler command, or a task that the agent does without the handler. */
export interface ExtensionStep {
  kind: HandlerStep['command'] | 'fetch' | 'configure' | 'delete' | 'forget';
  handler: string;
  /** The version whose folder the step works in. */
  version: string;
  /** The extensions that the step is for; more than one only if they share a handler. */
  extensions: string[];
  purpose: StepPurpose;
  /** For `update`: the version being replaced. */
  from?: string;
}

/** The part of an extension's goal that determines which commands run. */
export interface ExtensionTarget extends Dependent {
  readonly handler: string;
  readonly version: string;
  readonly state: GoalStateExtension['state'];
  readonly package: { readonly sha256: string };
}

/** A handler version on a machine. */
export interface VersionOnMachine {
  /** SHA-256 of the package in this version's folder; null if the folder is missing. */
  sha256: string | null;
  /** Whether install, or an update that requires no install after it, exited with 0 (AZ-G3). */
  installed: boolean;
  /** Whether update exited with 0 and the install that must follow has not succeeded yet. */
  updated?: boolean;
  updatesWithInstall?: boolean;
  /** Id of the boot in which an install that requires a restart finished; removed once the machine has restarted. */
  rebootAfter?: string;
}

/** What is on a machine: versions by handler, and the extensions whose settings were written. */
export interface MachineContents {
  handlers: Record<string, { versions: Record<string, VersionOnMachine> }>;
  extensions: Record<string, { version: string }>;
}

/**
 * Progress since the agent started or received this goal state. Not stored: each round brings every handler to its goal
 * again and retries what failed (AZ-G4, AZ-G6).
 */
export interface Round {
  /** Completed steps by extension, as `kind@version`. */
  done: Record<string, Set<string>>;
  /** Extensions that failed in this round. */
  failed: Set<string>;
  /** Whether the agent restarts the machine after an install; enable then runs after the restart (AZ-G8). */
  enableAfterRestart: boolean;
  /** The status of each extension for its current sequence number. The first `success` or `error` is kept. */
  statuses: Record<string, 'transitioning' | 'error' | 'success' | 'warning'>;
}

export interface ExtensionPlan {
  steps: ExtensionStep[];
  /** Extensions that are waiting, each with the extension that it waits for. */
  waiting: { extension: string; blockedBy: string }[];
}

/** Copies entries into an object without a prototype: an extension may have a name such as `constructor`. */
export function byName<T>(entries: Record<string, T> = {}): Record<string, T> {
  return Object.assign(Object.create(null), entries);
}

/** Whether this version must be disabled and uninstalled before it can be deleted. */
export function isInForce({ installed, updated }: VersionOnMachine): boolean {
  return installed || updated === true;
}

export function newRound(): Round {
  return { done: byName(), failed: new Set(), enableAfterRestart: false, statuses: byName() };
}

export function markDone(step: Pick<ExtensionStep, 'kind' | 'version' | 'extensions'>, round: Round): void {
  for (const name of step.extensions) {
    round.done[name] ??= new Set();
    round.done[name].add(`${step.kind}@${step.version}`);
  }
}

/** Records a status; the first `success` or `error` is kept for the round. Returns whether the status changed. */
export function noteStatusWord(round: Round, extension: string, word: Round['statuses'][string]): boolean {
  const before = round.statuses[extension];
  if (before === 'success' || before === 'error' || before === word) return false;
  round.statuses[extension] = word;
  return true;
}

/**
 * Records that a command of a version exited with 0. Until that version is uninstalled, neither install nor update runs
 * again for it (AZ-G3).
 */
export function noteSuccess(
  { kind, handler, version, extensions }: Pick<ExtensionStep, 'kind' | 'handler' | 'version' | 'extensions'>,
  machine: MachineContents,
): void {
  const facts = machine.handlers[handler]?.versions[version];
  if (facts === undefined) return;
  if (kind === 'uninstall') Object.assign(facts, { installed: false, updated: undefined });
  if (kind !== 'install' && kind !== 'update') return;
  // An update that requires install is complete only after that install.
  facts.updated = kind === 'update' && facts.updatesWithInstall === true ? true : undefined;
  facts.installed = facts.updated !== true;
  if (!facts.installed) return;
  for (const name of extensions) {
    const extension = machine.extensions[name];
    if (extension !== undefined) extension.version = version;
  }
}

/** Returns the first step that is not a fetch and whose handler has no pending fetch. */
export function nextCommand({ steps }: ExtensionPlan): ExtensionStep | undefined {
  const missing = new Set(steps.filter((step) => step.kind === 'fetch').map((step) => step.handler));
  return steps.find((step) => step.kind !== 'fetch' && !missing.has(step.handler));
}

/**
 * Plans the steps that bring this machine to its goal, in order; fetches come first, because they run in parallel.
 * Pure: the same goal, machine and round always give the same steps.
 */
export function reconcile(
  targets: readonly ExtensionTarget[],
  machine: MachineContents,
  round: Readonly<Round>,
): ExtensionPlan {
  return new Planner(targets, machine, round).plan();
}

class Planner {
  private readonly fetches: ExtensionStep[] = [];
  private readonly steps: ExtensionStep[] = [];
  private readonly waiting: ExtensionPlan['waiting'] = [];
  private readonly planned = new Set<string>();
  private readonly targets: readonly ExtensionTarget[];
  private readonly targetOf: ReadonlyMap<string, ExtensionTarget>;
  private readonly targetsOf: ReadonlyMap<string, readonly ExtensionTarget[]>;
  /** Extensions that `remove` has processed. */
  private readonly leaving = new Set<ExtensionTarget>();
  /** `blockers` and `groups` are caches, because a handler may have hundreds of extensions. */
  private readonly blockers = new Map<string, string | null>();
  private readonly groups = new Map<string, string[]>();
  private readonly machine: MachineContents;
  private readonly round: Readonly<Round>;

  constructor(targets: readonly ExtensionTarget[], machine: MachineContents, round: Readonly<Round>) {
    this.targets = targets;
    this.targetOf = new Map(targets.map((one) => [one.name, one]));
    this.targetsOf = Map.groupBy(targets, ({ handler }) => handler);
    this.machine = machine;
    this.round = round;
  }

  plan(): ExtensionPlan {
    const order = runOrder(this.targets);
    for (const one of order.filter((each) => each.state === 'uninstall').reverse()) this.remove(one);
    for (const one of order.filter((each) => each.state !== 'uninstall')) this.bringToGoal(one);
    return { steps: [...this.fetches, ...this.steps], waiting: this.waiting };
  }

  /** Plans a removal (AZ-G5): disable, uninstall, delete. The handler is kept while another extension uses it. */
  private remove(one: ExtensionTarget): void {
    this.leaving.add(one);
    if (this.round.failed.has(one.name) || this.isDone(one.name, 'forget', one.version)) return;
    const isShared = this.extensionsOf(one.handler).some((each) => !this.leaving.has(each));
    const runs = this.machine.extensions[one.name] !== undefined;
    for (const step of removalSteps(this.inForce(one.handler), { runs, isShared })) {
      this.addCommand(step, one, [one.name]);
      if (step.command === 'uninstall') this.add('delete', one, step.version, [one.name], 'remove');
    }
    if (!isShared) this.deleteOthers(one, [one.name], 'remove');
    this.add('forget', one, one.version, [one.name], 'remove');
  }

  private bringToGoal(one: ExtensionTarget): void {
    const target = this.machine.handlers[one.handler]?.versions[one.version];
    if (this.round.failed.has(one.name)) return;
    if (target?.sha256 !== one.package.sha256) this.fetch(one);
    const blockedBy = this.blockerOf(one);
    if (blockedBy !== null) {
      this.waiting.push({ extension: one.name, blockedBy });
      return;
    }
    this.bringHandlerToGoal(one);
    if (one.state === 'enabled' && this.round.enableAfterRestart && target?.rebootAfter !== undefined) return;
    this.add(goalCommand(one.state), one, one.version, [one.name], 'goal');
  }

  /**
   * Plans two tasks for all extensions of a handler that can proceed: writing their settings, and changing the
   * handler's version. Each task is planned once.
   */
  private bringHandlerToGoal(one: ExtensionTarget): void {
    const key = `handler ${one.handler} ${one.version}`;
    if (this.planned.has(key)) return;
    this.planned.add(key);
    const group = this.groupOf(one.handler);
    for (const name of group) this.add('configure', one, one.version, [name], 'goal');
    this.replace(one, group);
  }

  /** Plans the change to the goal's version, and the deletion of the folders of all other versions. */
  private replace(one: ExtensionTarget, group: string[]): void {
    const target = this.machine.handlers[one.handler]?.versions[one.version];
    const others = this.inForce(one.handler).filter((version) => version !== one.version);
    const steps = versionSteps({
      version: one.version,
      installed: target?.installed === true ? [one.version, ...others] : others,
      isUpdated: target?.updated === true,
      installsInUpdate: target?.updatesWithInstall === true,
    });
    for (const step of steps) {
      this.addCommand(step, one, group);
      if (step.command === 'uninstall') this.add('delete', one, step.version, group, step.purpose);
    }
    this.deleteOthers(one, group, 'update', one.version);
  }

  /**
   * Adds the steps of a command: for `disable`, one step for each extension in `group` that used the handler before;
   * otherwise, one step for the whole group.
   */
  private addCommand({ command, version, purpose, from }: HandlerStep, one: ExtensionTarget, group: string[]): void {
    if (command !== 'disable') {
      this.add(command, one, version, group, purpose, from);
      return;
    }
    const users = new Set(
      this.extensionsOf(one.handler)
        .filter(({ name }) => this.ranBefore(name) || this.isDone(name, command, version))
        .map(({ name }) => name),
    );
    for (const name of group) {
      // If the extension that used the handler was removed without an uninstall, the handler still runs. In that case,
      // `disable` runs for the extensions that take over the handler.
      if (users.size === 0 || users.has(name)) this.add(command, one, version, [name], purpose);
    }
  }

  /** Whether an extension on this machine is to be removed, or has a version other than the one in its goal. */
  private ranBefore(name: string): boolean {
    const goal = this.targetOf.get(name);
    const local = this.machine.extensions[name];
    return local !== undefined && (goal?.state === 'uninstall' || local.version !== goal?.version);
  }

  /** Plans the deletion of versions that are unpacked but not in force, except `kept`. */
  private deleteOthers(one: ExtensionTarget, group: string[], purpose: StepPurpose, kept?: string): void {
    const inForce = this.inForce(one.handler);
    for (const version of Object.keys(this.machine.handlers[one.handler]?.versions ?? {})) {
      if (version !== kept && !inForce.includes(version)) this.add('delete', one, version, group, purpose);
    }
  }

  /** Returns the first dependency that this extension must wait for, or null. A disabled extension does not wait. */
  private blockerOf(one: ExtensionTarget): string | null {
    if (one.state !== 'enabled') return null;
    const known = this.blockers.get(one.name);
    if (known !== undefined) return known;
    const found = one.dependsOn.find((name) => !this.isSettled(name)) ?? null;
    this.blockers.set(one.name, found);
    return found;
  }

  /** Whether an extension was enabled in this round and its status is neither `transitioning` nor `error`. */
  private isSettled(name: string): boolean {
    const one = this.targetOf.get(name);
    if (one === undefined || !this.isDone(name, 'enable', one.version)) return false;
    const status = this.round.statuses[name];
    return status !== 'transitioning' && status !== 'error';
  }

  /** Returns the handler's extensions that can proceed now, except those to be removed. */
  private groupOf(handler: string): string[] {
    const known = this.groups.get(handler);
    if (known !== undefined) return known;
    const group = this.extensionsOf(handler)
      .filter((each) => each.state !== 'uninstall')
      .filter((each) => !this.round.failed.has(each.name) && this.blockerOf(each) === null)
      .map((each) => each.name);
    this.groups.set(handler, group);
    return group;
  }

  private extensionsOf(handler: string): readonly ExtensionTarget[] {
    return this.targetsOf.get(handler) ?? [];
  }

  /** Returns the versions of a handler that must be disabled and uninstalled before they can be deleted. */
  private inForce(handler: string): string[] {
    return Object.entries(this.machine.handlers[handler]?.versions ?? {})
      .filter(([, facts]) => isInForce(facts))
      .map(([version]) => version);
  }

  private fetch(one: ExtensionTarget): void {
    const key = `fetch ${one.handler} ${one.version}`;
    if (this.planned.has(key)) return;
    this.planned.add(key);
    const group = this.extensionsOf(one.handler)
      .filter((each) => each.state !== 'uninstall' && !this.round.failed.has(each.name))
      .map((each) => each.name);
    this.fetches.push({
      kind: 'fetch',
      handler: one.handler,
      version: one.version,
      extensions: group,
      purpose: 'goal',
    });
  }

  private add(
    kind: ExtensionStep['kind'],
    { handler }: ExtensionTarget,
    version: string,
    extensions: string[],
    purpose: StepPurpose,
    from?: string,
  ): void {
    const perExtension = kind === 'configure' || kind === 'enable' || kind === 'disable' || kind === 'forget';
    const key = `${kind} ${handler} ${version} ${perExtension ? extensions[0] : ''}`;
    if (this.planned.has(key) || extensions.some((name) => this.isDone(name, kind, version))) return;
    this.planned.add(key);
    this.steps.push({ kind, handler, version, extensions, purpose, ...(from === undefined ? {} : { from }) });
  }

  private isDone(name: string, kind: ExtensionStep['kind'], version: string): boolean {
    return this.round.done[name]?.has(`${kind}@${version}`) ?? false;
  }
}
