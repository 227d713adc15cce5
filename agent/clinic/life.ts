import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type GoalStateExtension, manifestFileName, statusFileName } from '#protocol/index.ts';
import { type AgentLayout, layoutOf } from '../folder/layout.ts';
import { writeJson } from '../folder/write-file.ts';
import { foldersOf, type HandlerFolders } from '../handler/folders.ts';
import { createKey } from '../identity/create-key.ts';
import { openJournal } from '../journal.ts';
import { wait } from '../portal/wait.ts';
import { Agent } from '../work/agent.ts';
import { ClinicPortal, type HandlerUpdate } from './clinic-portal.ts';
import type { CommandSeen, Observations, TrialStage } from './observations.ts';
import { sealFor } from './seal.ts';
import { filesBelow, killProcessesOf, placesOf, processesOf, systemFilesOf } from './traces.ts';
import { type Trial, type TrialSettings, versionBefore } from './trial.ts';
import { watchHeartbeat, watchStatus } from './watch-files.ts';
import { type WatchedPrograms, watchPrograms } from './watched-programs.ts';

const extensionName = 'try';
type Goal = Pick<GoalStateExtension, 'state' | 'version' | 'sequenceNumber'> & { settings: TrialSettings };
/** PATH for handlers if the agent's environment has none. */
const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** How long to wait for processes that are ending, in seconds. */
const endingSeconds = 3;

/** Returns the layout of the agent that runs the trial. */
export function agentLayoutIn(work: string): AgentLayout {
  return layoutOf(join(work, 'agent'));
}

/**
 * Takes a handler through its life cycle, stage by stage, with a separate agent, and records observations for
 * `evaluateChecks`.
 */
export class TrialRun {
  private readonly trial: Trial;
  private readonly seen: Observations;
  private readonly layout: AgentLayout;
  private readonly home: string;
  private readonly portal = new ClinicPortal();
  private readonly programs: WatchedPrograms;
  private readonly previousVersion: string;
  private readonly sealedSettings = new Map<TrialSettings, ReturnType<typeof sealFor>>();
  private thumbprint = '';
  private before = new Set<string>();
  private patience: Trial['patience'];

  constructor(trial: Trial, seen: Observations) {
    this.trial = trial;
    this.seen = seen;
    this.patience = trial.patience;
    this.layout = agentLayoutIn(trial.work);
    this.home = join(trial.work, 'home');
    this.programs = watchPrograms(join(trial.work, 'programs'), trial.environment.PATH ?? usualPath);
    this.previousVersion = trial.previous?.version ?? versionBefore(trial.version);
  }

  async live(): Promise<void> {
    const agent = await this.arrive();
    await agent.start();
    const polling = agent.poll();
    try {
      await this.runStages();
    } finally {
      await this.end();
      await agent.stop();
      await polling;
      killProcessesOf(this.layout.root);
    }
  }

  /** Creates an agent with an identity, as if the agent had enrolled. */
  private async arrive(): Promise<Agent> {
    const { layout, home, trial } = this;
    mkdirSync(home, { recursive: true });
    const { thumbprint } = await createKey(layout, 'clinic');
    this.thumbprint = thumbprint;
    const identity = { portal: 'http://clinic.invalid', name: 'clinic', thumbprint, vmId: 'clinic' };
    writeJson(layout.identity, { ...identity, enrolledAt: null, pollSeconds: 1 });
    writeFileSync(layout.credential, 'none\n', { mode: 0o600 });
    this.before = systemFilesOf();
    if (trial.settings.protectedSettings !== undefined) this.seen.secretPlaces = [];
    return new Agent({
      layout,
      journal: openJournal(layout.logs, () => {}),
      heartbeatSeconds: 600,
      statusSeconds: 600,
      statusAfterConclusion: 'stop',
      portal: this.portal,
      waagentFolder: trial.waagentFolder,
      call: () => Promise.reject(new Error('a trial has no network')),
      environment: { ...trial.environment, PATH: this.programs.path, HOME: home },
    });
  }

  private async runStages(): Promise<void> {
    const { version, settings, newSettings = settings } = this.trial;
    const enabled = { state: 'enabled' as const, version, settings: newSettings };
    if (!(await this.enable('install', { ...enabled, settings, sequenceNumber: 1 }))) return;
    this.seen.processes.once = this.services();
    await this.checkHeartbeat();
    if (!(await this.enable('enable again', { ...enabled, settings, sequenceNumber: 1 }))) return;
    this.seen.processes.twice = await this.servicesAgain();
    if (!(await this.enable('new settings', { ...enabled, sequenceNumber: 2 }))) return;
    const previous = { ...enabled, version: this.previousVersion, sequenceNumber: 3 };
    if (!(await this.enable('previous version', previous))) return;
    if (!(await this.enable('update', { ...enabled, sequenceNumber: 4 }))) return;
    if (!(await this.stage('disable', { ...enabled, state: 'disabled', sequenceNumber: 5 }))) return;
    this.seen.processes.afterDisable = await this.remaining();
    if (!(await this.stage('uninstall', { ...enabled, state: 'uninstall', sequenceNumber: 6 }))) return;
    this.seen.processes.afterUninstall = await this.remaining();
    this.seen.left = this.left();
    await this.enable('install again', { ...enabled, sequenceNumber: 7 });
  }

  /**
   * Uninstalls the handler even after a failed stage, so that nothing remains on the host. Then reads which forbidden
   * programs the handler called.
   */
  private async end(): Promise<void> {
    const goal = { version: this.trial.version, settings: this.trial.settings, sequenceNumber: 8 };
    const isWhole = this.seen.through.includes('install again');
    const isThrough = await this.stage('end', { ...goal, state: 'uninstall' });
    if (!isWhole || !isThrough) this.seen.through = this.seen.through.filter((each) => each !== 'end');
    this.seen.reboots = this.programs.calls('reboot');
    this.seen.clocks = this.programs.calls('clock');
  }

  /**
   * Runs a stage that ends with enable. Then reads the status, unless the stage ran a separate previous package.
   * Returns whether the trial may continue.
   */
  private async enable(stage: TrialStage, goal: Goal): Promise<boolean> {
    const from = this.portal.updates.length;
    if (!(await this.stage(stage, goal))) return false;
    const began = this.portal.updates
      .slice(from)
      .findLast(({ command, output }) => command === 'enable' && output === undefined);
    if (stage === 'previous version' && this.trial.previous !== undefined) return true;
    const folders = this.foldersOf(goal.version);
    const isNamed = this.seen.manifest?.handlerManifest.supportsMultipleExtensions === true;
    const file = statusFileName(goal.sequenceNumber, isNamed ? extensionName : undefined);
    const status = await watchStatus(join(folders.statusFolder, file), stage, began?.at ?? Date.now(), this.patience);
    this.seen.statuses.push(status);
    // If the status of one stage does not become `success`, the status of later stages probably does not either, so
    // they wait only briefly.
    if (status.document?.status !== 'success') this.patience = { ...this.patience, statusSeconds: 1, settleSeconds: 1 };
    this.lookForSecrets();
    return true;
  }

  /**
   * Sets a goal and waits until the agent has reported success or failure. Returns false if the agent reported a
   * failure, a command failed, or the handler's folder is missing.
   */
  private async stage(stage: TrialStage, goal: Goal): Promise<boolean> {
    this.trial.say(stage);
    const from = this.portal.updates.length;
    this.portal.setGoal(this.extension(goal));
    const finals = {
      enabled: ['enabled', 'failed'],
      disabled: ['disabled', 'failed'],
      uninstall: ['removed', 'failed'],
    };
    // Allows for five commands and for the agent's work between them.
    const late = AbortSignal.timeout((5 * this.trial.commandSeconds + 60) * 1000);
    const last = await this.portal.until(from, ({ state }) => finals[goal.state].includes(state), late);
    const commands = this.commandsSince(from, stage, goal.sequenceNumber);
    this.seen.commands.push(...commands);
    this.lookForSecrets();
    const folders = this.foldersOf(goal.version);
    const isGone =
      goal.state !== 'uninstall' && commands.length > 0 && !existsSync(join(folders.root, manifestFileName));
    if (isGone) this.seen.folderGone.push(stage);
    const isGood = !isGone && last?.state !== 'failed' && commands.every(({ exitCode }) => exitCode === 0);
    if (isGood) this.seen.through.push(stage);
    return isGood;
  }

  private commandsSince(from: number, stage: TrialStage, sequenceNumber: number): CommandSeen[] {
    const updates = this.portal.updates.slice(from);
    return updates.flatMap((one, index): CommandSeen[] => {
      const { command, output, attempt = 1 } = one;
      if (command === undefined || output === undefined) return [];
      const began = updates.slice(0, index).findLast((each) => each.command === command && each.output === undefined);
      return [
        {
          stage,
          command,
          ofPrevious: this.trial.previous !== undefined && isOfPrevious(stage, one),
          exitCode: one.exitCode ?? null,
          timedOut: one.timedOut ?? false,
          seconds: (one.at - (began?.at ?? one.at)) / 1000,
          output,
          outputFile: this.outputFile(`${extensionName}.${sequenceNumber}.${command}.${attempt}.log`),
        },
      ];
    });
  }

  /**
   * Returns the path of the newest output with this name, or an empty string if there is none. Each version has its own
   * log folder, so several outputs can have this name.
   */
  private outputFile(name: string): string {
    const folders = readdirSync(this.layout.logs).map((folder) => join(this.layout.logs, folder, 'commands', name));
    const times = folders.map((path) => ({ path, time: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }));
    return times.sort((a, b) => b.time - a.time).find(({ time }) => time > 0)?.path ?? '';
  }

  private async checkHeartbeat(): Promise<void> {
    if (!this.seen.manifest?.handlerManifest.reportHeartbeat) return;
    const { heartbeatFile } = this.foldersOf(this.trial.version);
    this.seen.heartbeat = await watchHeartbeat(heartbeatFile, Date.now(), this.patience);
  }

  private lookForSecrets(): void {
    const { secretPlaces } = this.seen;
    if (secretPlaces === null) return;
    const secrets = [this.trial.settings.protectedSettings, this.trial.newSettings?.protectedSettings];
    for (const path of placesOf(secrets, this.layout.root)) {
      const place = path.slice(this.layout.root.length + 1);
      if (!secretPlaces.includes(place)) secretPlaces.push(place);
    }
  }

  private processes(): string[] {
    return processesOf(this.layout.root).map(({ line }) => line);
  }

  /**
   * Returns the command lines of handler processes whose parent is not a handler process. Does not count children,
   * because their number keeps changing.
   */
  private services(): string[] {
    const all = processesOf(this.layout.root);
    return all.filter(({ parent }) => !all.some(({ pid }) => pid === parent)).map(({ line }) => line);
  }

  /** Returns the services after the second enable, once the services of the first enable have had time to end. */
  private async servicesAgain(): Promise<string[]> {
    const until = Date.now() + endingSeconds * 1000;
    while (this.services().length > this.seen.processes.once.length && Date.now() < until) await wait(0.1, []);
    return this.services();
  }

  /** Returns the processes that are still running after they have had time to end. */
  private async remaining(): Promise<string[]> {
    const until = Date.now() + endingSeconds * 1000;
    while (this.processes().length > 0 && Date.now() < until) await wait(0.1, []);
    return this.processes();
  }

  private left(): string[] {
    const known = ['logs', 'state', 'reports', 'certificates', 'incoming', 'uploads', 'agent.json', 'credential'];
    const below = filesBelow(this.layout.root).filter((path) => {
      const inside = path.slice(this.layout.root.length + 1);
      return inside !== 'handlers/' && !known.includes(inside.split('/')[0] ?? '');
    });
    const system = [...systemFilesOf()].filter((path) => !this.before.has(path));
    // Copies of the key do not count, because the agent deletes them shortly afterwards.
    const isCopy = (path: string) =>
      basename(path).startsWith(`${this.thumbprint}.`) || path === `${this.trial.waagentFolder}/`;
    return [...below, ...filesBelow(this.home), ...system].filter((path) => !isCopy(path));
  }

  private foldersOf(version: string): HandlerFolders {
    return foldersOf(this.layout, this.trial.handler, version);
  }

  /**
   * Encrypts settings only once. The agent treats different bytes with the same sequence number as a re-encryption for
   * a new certificate, and runs no command for it.
   */
  private sealed(settings: TrialSettings) {
    if (settings.protectedSettings === undefined) return {};
    const sealed =
      this.sealedSettings.get(settings) ?? sealFor(this.layout, this.thumbprint, settings.protectedSettings);
    this.sealedSettings.set(settings, sealed);
    return sealed;
  }

  private extension({ settings, ...goal }: Goal): GoalStateExtension {
    const { trial } = this;
    const zip = goal.version === trial.version ? trial.zip : (trial.previous?.zip ?? trial.zip);
    const seconds = trial.commandSeconds;
    return {
      ...goal,
      name: extensionName,
      handler: trial.handler,
      dependsOn: [],
      timeouts: { install: seconds, update: seconds, enable: seconds, disable: seconds, uninstall: seconds },
      package: {
        sha256: createHash('sha256').update(readFileSync(zip)).digest('hex'),
        size: statSync(zip).size,
        url: zip,
      },
      settings: { publicSettings: settings.publicSettings ?? {}, ...this.sealed(settings) },
    };
  }
}

/**
 * Whether a command belongs to the previous version: install and enable in its own stage, disable and uninstall during
 * the update.
 */
function isOfPrevious(stage: TrialStage, { command }: HandlerUpdate): boolean {
  if (stage === 'previous version') return command === 'install' || command === 'enable';
  return stage === 'update' && (command === 'disable' || command === 'uninstall');
}
