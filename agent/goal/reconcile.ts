import { compareVersions, type GoalState, type GoalStateExtension, runOrder } from '#protocol/index.ts';
import { ExitCodes } from './exit-codes.ts';
import { byName, isInForce, type LocalState } from './local-state.ts';

/** Why a command is run: it decides what the portal is told meanwhile. */
export type Purpose = 'goal' | 'update' | 'downgrade' | 'remove';

export interface Step {
  kind: 'fetch' | 'configure' | 'install' | 'update' | 'enable' | 'disable' | 'uninstall' | 'delete' | 'forget';
  handler: string;
  /** The version whose folder is meant. */
  version: string;
  /** The extensions that it is done for; more than one where they share a handler. */
  extensions: string[];
  purpose: Purpose;
  /** For `update`: the version that is replaced. */
  from?: string;
}

/**
 * What has happened since the agent started or got this goal state. Nothing of it outlives a restart: a new round
 * brings every handler to its goal again, and with it comes the next attempt of what failed (AZ-G4, AZ-G6).
 */
export interface Round {
  /** By extension: the steps that are through, as `kind@version`. */
  done: Record<string, Set<string>>;
  /** Extensions that are given up in this round. */
  failed: Set<string>;
  /** The agent restarts the machine when an install asks for it: enable comes after that (AZ-G8). */
  enableAfterRestart: boolean;
  /** The last status by extension, for the sequence number in force. */
  statuses: Record<string, 'transitioning' | 'error' | 'success' | 'warning'>;
  exitCodes: ExitCodes;
}

export interface Plan {
  steps: Step[];
  /** Who waits, and for whom. */
  waiting: { extension: string; blockedBy: string }[];
}

export function newRound(): Round {
  return {
    done: byName(),
    failed: new Set(),
    enableAfterRestart: false,
    statuses: byName(),
    exitCodes: new ExitCodes(),
  };
}

export function markDone(step: Step, round: Round): void {
  for (const name of step.extensions) {
    round.done[name] ??= new Set();
    round.done[name].add(`${step.kind}@${step.version}`);
  }
}

/** Notes what a status says. The first `success` or `error` stands for the round. Returns whether it is news. */
export function noteWord(round: Round, extension: string, word: Round['statuses'][string]): boolean {
  const before = round.statuses[extension];
  if (before === 'success' || before === 'error' || before === word) return false;
  round.statuses[extension] = word;
  return true;
}

/** The first step that is no fetch, and whose handler waits for no fetch. */
export function nextCommand({ steps }: Plan): Step | undefined {
  const missing = new Set(steps.filter((step) => step.kind === 'fetch').map((step) => step.handler));
  return steps.find((step) => step.kind !== 'fetch' && !missing.has(step.handler));
}

/**
 * The steps that bring this machine to its goal, in order; fetches first, since they run beside everything else.
 * Pure: the same goal, machine and round give the same steps.
 */
export function reconcile(goal: GoalState, local: LocalState, round: Round): Plan {
  const plan = new Planner(goal, local, round);
  return plan.make();
}

class Planner {
  private readonly fetches: Step[] = [];
  private readonly steps: Step[] = [];
  private readonly waiting: Plan['waiting'] = [];
  private readonly planned = new Set<string>();
  private readonly goal: GoalState;
  private readonly local: LocalState;
  private readonly round: Round;

  constructor(goal: GoalState, local: LocalState, round: Round) {
    this.goal = goal;
    this.local = local;
    this.round = round;
  }

  make(): Plan {
    const order = runOrder(this.goal.extensions);
    const leaving = order.filter((one) => one.state === 'uninstall').reverse();
    leaving.forEach((one, index) => {
      this.remove(one, leaving.slice(index + 1));
    });
    for (const one of order.filter((each) => each.state !== 'uninstall')) this.bring(one);
    return { steps: [...this.fetches, ...this.steps], waiting: this.waiting };
  }

  /** AZ-G5: disable, uninstall, delete; a sibling that stays keeps the handler. */
  private remove(one: GoalStateExtension, later: GoalStateExtension[]): void {
    if (this.round.failed.has(one.name) || this.isDone(one.name, 'forget', one.version)) return;
    const versions = this.versionsOf(one.handler);
    const shared = [...later, ...this.goal.extensions.filter((each) => each.state !== 'uninstall')].some(
      (each) => each.handler === one.handler,
    );
    const known = this.local.extensions[one.name] !== undefined;
    for (const [version, facts] of versions) {
      if (isInForce(facts) && known) this.add('disable', one, version, [one.name], 'remove');
    }
    if (!shared) {
      for (const [version, facts] of versions) {
        if (isInForce(facts)) this.add('uninstall', one, version, [one.name], 'remove');
        this.add('delete', one, version, [one.name], 'remove');
      }
    }
    this.add('forget', one, one.version, [one.name], 'remove');
  }

  private bring(one: GoalStateExtension): void {
    const target = this.local.handlers[one.handler]?.versions[one.version];
    if (this.round.failed.has(one.name)) return;
    if (target?.sha256 !== one.package.sha256) this.fetch(one);
    const blockedBy = this.blockerOf(one);
    if (blockedBy !== null) {
      this.waiting.push({ extension: one.name, blockedBy });
      return;
    }
    const group = this.groupOf(one);
    for (const name of group) this.add('configure', one, one.version, [name], 'goal');
    if (target?.installed !== true) this.takeOver(one, group);
    else this.cleanUp(one, group, 'update');
    if (one.state === 'enabled' && this.round.enableAfterRestart && target?.rebootAfter !== undefined) return;
    this.add(one.state === 'enabled' ? 'enable' : 'disable', one, one.version, [one.name], 'goal');
  }

  /** Nothing, an older or a newer version is there: install, update (AZ-G7), or replace by the lower one. */
  private takeOver(one: GoalStateExtension, group: string[]): void {
    const others = this.versionsOf(one.handler).filter(
      ([version, facts]) => isInForce(facts) && version !== one.version,
    );
    const [newest, ...left] = others.map(([version]) => version).sort((a, b) => compareVersions(b, a));
    const target = this.local.handlers[one.handler]?.versions[one.version];
    if (newest === undefined) {
      this.add('install', one, one.version, group, 'goal');
      this.cleanUp(one, group, 'goal');
      return;
    }
    const purpose = compareVersions(one.version, newest) > 0 ? 'update' : 'downgrade';
    // An update that was overtaken leaves what it replaced; the next one finds one version, as AZ-G7 has it.
    for (const version of left) {
      this.add('uninstall', one, version, group, purpose);
      this.add('delete', one, version, group, purpose);
    }
    const isUpdated = purpose === 'update' && target?.updated === true;
    if (!isUpdated) for (const name of group) this.add('disable', one, newest, [name], purpose);
    if (purpose === 'update') {
      if (!isUpdated) this.add('update', one, one.version, group, 'update', newest);
      this.cleanUp(one, group, 'update');
      if (target?.updatesWithInstall === true) this.add('install', one, one.version, group, 'update');
    } else {
      this.cleanUp(one, group, 'downgrade');
      this.add('install', one, one.version, group, 'downgrade');
    }
  }

  /** Other versions of the handler leave: uninstall what was installed, delete the folders. */
  private cleanUp(one: GoalStateExtension, group: string[], purpose: Purpose): void {
    for (const [version, facts] of this.versionsOf(one.handler)) {
      if (version === one.version) continue;
      if (isInForce(facts)) this.add('uninstall', one, version, group, purpose);
      this.add('delete', one, version, group, purpose);
    }
  }

  /** The first extension that this one must wait for, or null. What is to be disabled waits for no one. */
  private blockerOf(one: GoalStateExtension): string | null {
    if (one.state !== 'enabled') return null;
    return one.dependsOn.find((name) => !this.isSettled(name)) ?? null;
  }

  /** Enabled in this round, and not on its way or in trouble by its own account. */
  private isSettled(name: string): boolean {
    const one = this.goal.extensions.find((each) => each.name === name);
    if (one === undefined || !this.isDone(name, 'enable', one.version)) return false;
    const status = this.round.statuses[name];
    return status !== 'transitioning' && status !== 'error';
  }

  /** All extensions of this one's handler that may go on now. */
  private groupOf(one: GoalStateExtension): string[] {
    return this.goal.extensions
      .filter((each) => each.handler === one.handler && each.state !== 'uninstall')
      .filter((each) => !this.round.failed.has(each.name) && this.blockerOf(each) === null)
      .map((each) => each.name);
  }

  private versionsOf(handler: string) {
    return Object.entries(this.local.handlers[handler]?.versions ?? {});
  }

  private fetch(one: GoalStateExtension): void {
    const group = this.goal.extensions
      .filter((each) => each.handler === one.handler && each.state !== 'uninstall' && !this.round.failed.has(each.name))
      .map((each) => each.name);
    const key = `fetch ${one.handler} ${one.version}`;
    if (this.planned.has(key)) return;
    this.planned.add(key);
    this.fetches.push({
      kind: 'fetch',
      handler: one.handler,
      version: one.version,
      extensions: group,
      purpose: 'goal',
    });
  }

  private add(
    kind: Step['kind'],
    { handler }: GoalStateExtension,
    version: string,
    extensions: string[],
    purpose: Purpose,
    from?: string,
  ): void {
    const perExtension = kind === 'configure' || kind === 'enable' || kind === 'disable' || kind === 'forget';
    const key = `${kind} ${handler} ${version} ${perExtension ? extensions[0] : ''}`;
    if (this.planned.has(key) || extensions.some((name) => this.isDone(name, kind, version))) return;
    this.planned.add(key);
    this.steps.push({ kind, handler, version, extensions, purpose, ...(from === undefined ? {} : { from }) });
  }

  private isDone(name: string, kind: Step['kind'], version: string): boolean {
    return this.round.done[name]?.has(`${kind}@${version}`) ?? false;
  }
}
