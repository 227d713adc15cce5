import {
  type CommandName,
  type GoalState,
  type GoalStateExtension,
  type HandlerState,
  type HandlerWork,
  turnOf,
} from '#protocol/index.ts';
import type { AgentLayout } from '../folder/layout.ts';
import {
  type LocalRestartRequest,
  type LocalState,
  type LocalVersion,
  pendingRestartsIn,
  readLocalState,
  writeLocalState,
} from '../goal/local-state.ts';
import { foldersOf, isUnpacked } from '../handler/folders.ts';
import type { Reporter } from '../report/reporter.ts';
import { momentNow } from '../watch/moment.ts';

/** Details reported with the state of an extension. */
export interface StateDetails {
  command?: CommandName;
  attempt?: number;
  exitCode?: number;
  timedOut?: boolean;
  output?: string;
  blockedBy?: string;
  /** The version that the command belongs to. */
  commandVersion?: string;
}

/** The local state, which is stored on disk and reported, and the current goal. */
export class Machine {
  readonly local: LocalState;
  readonly layout: AgentLayout;
  goal: GoalState | null = null;
  readonly boot: string;
  private readonly reporter: Reporter;

  constructor(layout: AgentLayout, reporter: Reporter, boot: string) {
    this.layout = layout;
    this.boot = boot;
    this.reporter = reporter;
    this.local = readLocalState(layout);
    this.forgetLostFolders();
  }

  /** Starts a new round. The round number tells the portal which reports belong to the current round. */
  beginRound(): void {
    this.local.round = (this.local.round ?? 0) + 1;
  }

  save(): void {
    writeLocalState(this.layout, this.local);
  }

  goalOf(name: string): GoalStateExtension | undefined {
    return this.goal?.extensions.find((each) => each.name === name);
  }

  versionOf({ handler, version }: { handler: string; version: string }): LocalVersion | undefined {
    return this.local.handlers[handler]?.versions[version];
  }

  putVersion(handler: string, version: string, facts: LocalVersion): void {
    this.local.handlers[handler] ??= { versions: {} };
    this.local.handlers[handler].versions[version] = facts;
    this.save();
  }

  dropVersion(handler: string, version: string): void {
    const versions = this.local.handlers[handler]?.versions ?? {};
    delete versions[version];
    if (Object.keys(versions).length === 0) delete this.local.handlers[handler];
  }

  /** Notes that settings were written. For a new sequence number, attempts are counted from one again. */
  noteConfigured({ name, handler, version, sequenceNumber }: GoalStateExtension): void {
    const before = this.local.extensions[name];
    this.local.extensions[name] = {
      state: before?.state ?? 'notInstalled',
      detail: before?.detail ?? '',
      at: before?.at ?? new Date().toISOString(),
      version: before?.version ?? version,
      handler,
      sequenceNumber,
      attempts: before?.sequenceNumber === sequenceNumber ? before.attempts : {},
    };
  }

  countAttempt(extensions: string[], command: CommandName, version: string): number {
    let highest = 1;
    for (const name of extensions) {
      const attempts = this.local.extensions[name]?.attempts;
      if (attempts === undefined) continue;
      const count = (attempts[`${command}@${version}`] ?? 0) + 1;
      attempts[`${command}@${version}`] = count;
      highest = Math.max(highest, count);
    }
    return highest;
  }

  isAnyInstalled(handler: string): boolean {
    return Object.values(this.local.handlers[handler]?.versions ?? {}).some((version) => version.installed);
  }

  /**
   * Reports the state of an extension. `sequenceNumber` is given for a command that ran when the agent was killed, and
   * that therefore belongs to no round of this run.
   */
  reportState(name: string, state: HandlerState, more: StateDetails = {}, sequenceNumber?: number): void {
    const extension = this.goalOf(name);
    if (extension === undefined) return;
    const { commandVersion, ...said } = more;
    const local = this.local.extensions[name];
    if (local !== undefined) Object.assign(local, { state, detail: detailOf(more), at: new Date().toISOString() });
    this.reporter.handler({
      extension: name,
      version: this.versionNow(extension),
      sequenceNumber: sequenceNumber ?? extension.sequenceNumber,
      state,
      timedOut: false,
      ...said,
      work: this.workOf(extension, { commandVersion, isOfThisRun: sequenceNumber === undefined }),
    });
  }

  private workOf(
    { handler }: GoalStateExtension,
    { commandVersion, isOfThisRun }: { commandVersion: string | undefined; isOfThisRun: boolean },
  ): HandlerWork {
    const versions = Object.entries(this.local.handlers[handler]?.versions ?? {});
    const used = Object.entries(this.local.extensions).filter(([, each]) => each.handler === handler);
    return {
      turn: this.goal === null ? 0 : turnOf(this.goal),
      round: isOfThisRun ? this.local.round : undefined,
      commandVersion,
      versions: Object.fromEntries(versions.slice(-100).map(([version, facts]) => [version, stageOf(facts)])),
      extensions: Object.fromEntries(used.slice(-200).map(([each, { version }]) => [each, version])),
    };
  }

  /** Reports a problem with an extension, other than a failed command. */
  problem(name: string, message: string): void {
    this.reporter.problem(name, message);
  }

  /**
   * Returns the goal's version if it is installed. Otherwise, returns the version that the extension last used or, if
   * there is none, any installed version. Returns undefined if no version of the handler is installed.
   */
  private versionNow({ name, handler, version }: GoalStateExtension): string | undefined {
    const versions = this.local.handlers[handler]?.versions ?? {};
    if (versions[version]?.installed) return version;
    const installed = Object.keys(versions).find((each) => versions[each]?.installed);
    return installed === undefined ? undefined : (this.local.extensions[name]?.version ?? installed);
  }

  /** Returns the installs that complete only when the machine restarts (AZ-G8). */
  pendingRestarts(): LocalRestartRequest[] {
    return pendingRestartsIn(this.local, this.boot);
  }

  /**
   * Notes that an install or update exited with 0 and requires a restart. `boot` is the boot in which the install or
   * update ran.
   */
  noteRestartWanted(version: LocalVersion, boot: string): void {
    // An install in an earlier boot is complete by now. A request that is already recorded keeps its `rebootSince` and
    // `rebootAsked`.
    if (boot !== this.boot || version.rebootAfter === boot) return;
    Object.assign(version, { rebootAfter: boot, rebootSince: momentNow(), rebootAsked: false });
  }

  noteRestartCommand(isAsked: boolean): void {
    for (const version of this.versions()) {
      if (version.rebootAfter === this.boot) version.rebootAsked = isAsked;
    }
  }

  /** Drops requests from earlier boots. Returns whether there were any. */
  dropOldRestarts(): boolean {
    const old = this.versions().filter(({ rebootAfter }) => rebootAfter !== undefined && rebootAfter !== this.boot);
    for (const version of old) {
      delete version.rebootAfter;
      delete version.rebootSince;
      delete version.rebootAsked;
    }
    return old.length > 0;
  }

  private versions(): LocalVersion[] {
    return Object.values(this.local.handlers).flatMap(({ versions }) => Object.values(versions));
  }

  /** Notes which handler folders are missing, so that their packages are fetched again. The handlers stay installed. */
  forgetLostFolders(): void {
    for (const [handler, { versions }] of Object.entries(this.local.handlers)) {
      for (const [version, facts] of Object.entries(versions)) {
        if (!isUnpacked(foldersOf(this.layout, handler, version).root)) facts.sha256 = null;
      }
    }
  }
}

function stageOf({ installed, updated }: LocalVersion): HandlerWork['versions'][string] {
  if (installed) return 'installed';
  return updated === true ? 'updated' : 'unpacked';
}

function detailOf({ command, exitCode, timedOut, blockedBy }: StateDetails): string {
  if (blockedBy !== undefined) return `waits for ${blockedBy}`;
  if (command === undefined) return '';
  if (timedOut) return `${command} was ended after its time`;
  return exitCode === undefined ? command : `${command} exited with ${exitCode}`;
}
