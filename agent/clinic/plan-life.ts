import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ExecutionCall,
  executionEnvelope,
  type PlanFault,
  type PlanScript,
  readExecutionPlan,
} from '#protocol/executions/index.ts';
import { beginRun } from '../execution/begin-run.ts';
import { type ExecutionEnd, refused } from '../execution/body/faults.ts';
import { Inbox, type OpenExecution } from '../execution/inbox.ts';
import { type FoundPlatforms, findPlatforms, platformReport } from '../execution/platforms.ts';
import { type ExecutionRunOptions, RunningExecution } from '../execution/run-execution.ts';
import { type AgentLayout, layoutOf } from '../folder/layout.ts';
import { maskedTexts } from '../handler/mask.ts';
import { createKey } from '../identity/create-key.ts';
import { openJournal } from '../journal.ts';
import { wait } from '../portal/wait.ts';
import { sealFor } from './seal.ts';
import { filesBelow, systemFilesOf } from './traces.ts';
import { trialProcessesOf } from './trial-processes.ts';
import { watchPrograms } from './watched-programs.ts';

/** A plan to try, and how to try it. */
export interface PlanTrial {
  /** The trial's folder. */
  work: string;
  /** The plan, as parsed by `parseExactJson`. */
  plan: Record<string, unknown>;
  /** Secret parameters by name. */
  secrets: Readonly<Record<string, string>>;
  /** Whether to run the plan a second time. The second run is stopped and continued after each call. */
  isTwice: boolean;
  timeoutSeconds: number;
  /** The Python that runs the Body: a path, or the name of a program in PATH. */
  python?: string;
  /** The agent's environment. The plan gets only the documented part of it. */
  environment: Record<string, string | undefined>;
  /** Prints progress: called for each run. */
  say(line: string): void;
}

/** A run of a plan. */
export interface PlanRunSeen {
  code: number;
  /** The `Body` of the result as JSON text. */
  body: string;
  /** The rows of the transcript. */
  rows: unknown[][];
}

/** What was observed in a trial. */
export interface PlanObservations {
  faults: PlanFault[];
  scripts: ReadonlyMap<string, PlanScript>;
  /** Whether the plan was in format vCurrent. */
  isConverted: boolean;
  runs: PlanRunSeen[];
  /** Where values of secret parameters were found; null if the plan was given none. */
  secretPlaces: string[] | null;
  /** Command lines of the processes that were still running after the trial. */
  processes: string[];
  /** Files that the Body created outside of its folders. */
  left: string[];
  /** Calls that would have restarted the machine: they were recorded instead of executed. */
  reboots: string[];
}

/** How long to wait for processes that are ending, in seconds. */
const endingSeconds = 3;
const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Maximum number of calls for which files are compared, because each comparison takes time. */
const comparedCalls = 100;
/** Maximum number of times that a run is stopped and continued. */
const maxStops = 50;
/** Larger files are not searched for secrets. */
const maxBytes = 64 * 1024 * 1024;

/** Runs a plan with the agent's own code, and returns what was observed. */
export async function livePlan(trial: PlanTrial): Promise<PlanObservations> {
  const { work, plan, secrets, isTwice, environment } = trial;
  const layout = layoutOf(join(work, 'agent'));
  const home = join(work, 'home');
  mkdirSync(home, { recursive: true });
  const programs = watchPrograms(join(work, 'programs'), environment.PATH ?? usualPath);
  const own = { ...environment, PATH: programs.path, HOME: home };
  const found = await findPlatforms(own, trial.python);
  const given: unknown = JSON.parse(JSON.stringify(plan));
  const read = readExecutionPlan(given, { platforms: platformReport(found, true).platforms, id: 'try-1' });
  const seen: PlanObservations = {
    faults: 'faults' in read ? read.faults : [],
    scripts: 'faults' in read ? new Map() : read.plan.scripts,
    isConverted: 'converted' in read && read.converted,
    ...{ runs: [], processes: [], left: [], reboots: [] },
    secretPlaces: Object.keys(secrets).length === 0 ? null : [],
  };
  if (seen.faults.length > 0) return seen;
  const run = new PlanRuns({ ...trial, environment: own }, { layout, home, found, seen });
  await run.run(1);
  if (isTwice) await run.run(2, true);
  seen.reboots.push(...programs.calls('reboot'));
  return seen;
}

interface Surroundings {
  layout: AgentLayout;
  home: string;
  found: FoundPlatforms;
  seen: PlanObservations;
}

class PlanRuns {
  private readonly trial: PlanTrial;
  private readonly around: Surroundings;
  private readonly inbox: Inbox;

  constructor(trial: PlanTrial, around: Surroundings) {
    this.trial = trial;
    this.around = around;
    this.inbox = new Inbox(around.layout);
  }

  /** Runs the plan once. If `isStopped` is true, stops and continues the execution after each call. */
  async run(number: number, isStopped = false): Promise<void> {
    const { trial, around, inbox } = this;
    const { seen } = around;
    trial.say(`run ${number}`);
    const open = await this.receive(number);
    const files = new BodyFiles(around.home);
    const end = await this.untilEnd(open, files, isStopped);
    files.compare();
    const transcript = join(open.folder, 'transcript.jsonl');
    const rows = existsSync(transcript) ? readFileSync(transcript, 'utf8').split('\n').filter(Boolean) : [];
    const lines = rows.map((row) => JSON.parse(row) as unknown[]);
    seen.runs.push({ ...end, rows: lines });
    seen.left = [...new Set([...seen.left, ...files.left])];
    seen.processes = [...new Set([...seen.processes, ...(await this.remaining())])];
    this.lookForSecrets(number);
    inbox.close(open);
  }

  /** Runs an execution, continuing it after each stop, until it ends. */
  private async untilEnd(open: OpenExecution, files: BodyFiles, isStopped: boolean): Promise<ExecutionEnd> {
    const { trial, around, inbox } = this;
    const { layout, found, seen } = around;
    const progress = inbox.readProgress(open);
    const made = new Set<number>();
    let boots = 1;
    for (let stops = 0; stops <= maxStops; stops += 1) {
      const boot = `try-${boots}`;
      const options: ExecutionRunOptions = {
        ...{ layout, found, open, environment: trial.environment, progress, boot, canReboot: true },
        why: beginRun(open, progress, boot),
        journal: openJournal(layout.logs, () => {}),
        saveProgress: () => inbox.writeProgress(open, progress),
        onBegin: () => {},
        onCall: (call) => {
          files.noteCall(call);
          if (call.state === 'running' || call.fromJournal === true) return;
          // Stops are limited, because a Body that makes different calls each time would otherwise never end.
          if (isStopped && !made.has(call.n) && stops < maxStops) running.stop('stop');
          made.add(call.n);
        },
        onRestarting: () => {
          seen.reboots.push('api.waitReboot()');
          boots += 1;
          running.stop('stop');
        },
      };
      const running = new RunningExecution(options);
      const end = await running.run();
      if (running.wantsReboot) seen.reboots.push('api.reboot()');
      if (end !== null) return end;
    }
    return refused(1, 'TooManyRestarts', `The plan waited for more than ${maxStops} restarts.`);
  }

  private async receive(number: number): Promise<OpenExecution> {
    const { plan, secrets, timeoutSeconds } = this.trial;
    const id = `try-${number}`;
    const sealed = Object.keys(secrets).length === 0 ? {} : await this.sealed(secrets);
    const text = JSON.stringify({
      ...{ protocol: 1, id, stamp: number, turn: number, timeoutSeconds, plan, files: {} },
      ...sealed,
    });
    return this.inbox.receive(text, executionEnvelope.parse(JSON.parse(text))).open;
  }

  private async sealed(secrets: Readonly<Record<string, string>>) {
    const { layout } = this.around;
    const { thumbprint } = await createKey(layout, 'clinic');
    const { protectedSettings, protectedSettingsCertThumbprint } = sealFor(layout, thumbprint, secrets);
    return {
      protectedParameters: protectedSettings,
      protectedParametersCertThumbprint: protectedSettingsCertThumbprint,
    };
  }

  /** Returns the processes that are still running after they have had time to end. */
  private async remaining(): Promise<string[]> {
    const { root } = this.around.layout;
    const until = Date.now() + endingSeconds * 1000;
    while (trialProcessesOf('ANNEX_WORK', root).length > 0 && Date.now() < until) await wait(0.1, []);
    return trialProcessesOf('ANNEX_WORK', root).map(({ line }) => line);
  }

  private lookForSecrets(number: number): void {
    const { secrets } = this.trial;
    const { layout, home, seen } = this.around;
    if (seen.secretPlaces === null) return;
    const { rows, body } = seen.runs.at(-1) ?? { rows: [], body: '' };
    const masked = rows.filter((row) => JSON.stringify(row).includes('[masked]')).length;
    if (masked > 0) seen.secretPlaces.push(`The log of run ${number} has ${masked} rows with masked secrets.`);
    if (body.includes('[masked]')) seen.secretPlaces.push(`The result of run ${number} has a masked secret.`);
    const texts = maskedTexts(secrets).map((text) => Buffer.from(text));
    for (const path of [...filesBelow(layout.root), ...filesBelow(home)]) {
      if (path.endsWith('/') || (statSync(path, { throwIfNoEntry: false })?.size ?? maxBytes + 1) > maxBytes) continue;
      if (!statSync(path).isFile()) continue;
      const bytes = readFileSync(path);
      if (texts.some((text) => bytes.includes(text))) {
        const place = path.startsWith(home) ? `$HOME${path.slice(home.length)}` : path.slice(layout.root.length + 1);
        seen.secretPlaces.push(`It is in ${place}.`);
      }
    }
  }
}

/**
 * The files that a Body creates itself. Files that appear during a call come from its script, and may be the purpose of
 * the plan.
 */
class BodyFiles {
  readonly left = new Set<string>();
  private readonly home: string;
  private before: Set<string>;
  private compared = 0;

  constructor(home: string) {
    this.home = home;
    this.before = this.all();
  }

  noteCall({ state }: ExecutionCall): void {
    if (this.compared >= comparedCalls) return;
    if (state === 'running') this.compare();
    else {
      this.compared += 1;
      this.before = this.all();
    }
  }

  /** Notes the files that appeared since the last call. */
  compare(): void {
    if (this.compared >= comparedCalls) return;
    for (const path of this.all()) if (!this.before.has(path)) this.left.add(path);
  }

  private all(): Set<string> {
    return new Set([...systemFilesOf(), ...filesBelow(this.home)]);
  }
}
