import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import {
  type ExecutionCall,
  type ExecutionPlan,
  errorCodes,
  executionLimits,
  parseExactJson,
  readExecutionPlan,
  resultFormatOf,
  toVCurrentResult,
} from '#protocol/executions/index.ts';
import { sentenceOf } from '../agent-error.ts';
import type { AgentLayout } from '../folder/layout.ts';
import { discard } from '../folder/write-file.ts';
import { inheritedEnvironment } from '../handler/environment.ts';
import type { Journal } from '../journal.ts';
import { secondsSince } from '../watch/moment.ts';
import { ExecutionApi } from './api/index.ts';
import { writeLog } from './api/log.ts';
import { rebootLoop } from './api/reboots.ts';
import type { BeginReason } from './begin-run.ts';
import { runBody } from './body/body-process.ts';
import { cancelled, type ExecutionEnd, endOf, planRefused, refused, type StopReason, timeOver } from './body/faults.ts';
import { BodyCalls } from './body-calls.ts';
import { CallJournal } from './call-journal.ts';
import type { EndWishes, ExecutionContext } from './execution-context.ts';
import { FileCache, usualCacheBytes } from './files/cache.ts';
import { type FileSources, noSources, PlanFiles } from './files/plan-files.ts';
import type { OpenExecution, StoredProgress } from './inbox.ts';
import { Lines } from './lines.ts';
import { maskedValue } from './masked-value.ts';
import { type FoundPlatforms, platformReport } from './platforms.ts';
import { ReplayedOutput } from './replayed-output.ts';
import { endLeftovers } from './run-process.ts';
import { ScriptCalls } from './script-calls.ts';
import { secretParameters } from './secret-parameters.ts';
import { Transcript } from './transcript.ts';

export interface ExecutionRunOptions {
  layout: AgentLayout;
  journal: Journal;
  found: FoundPlatforms;
  /** The agent's own environment; scripts get only a documented part of it. */
  environment: Record<string, string | undefined>;
  open: OpenExecution;
  progress: StoredProgress;
  why: BeginReason;
  /** Id of the current boot. */
  boot: string;
  /** Whether the agent can restart the machine; by default, it cannot. */
  canReboot?: boolean;
  /** The `Tag` of log messages; by default, the name of the machine. */
  tag?: string;
  /** Where files of plans are fetched from; by default, nowhere. */
  sources?: FileSources;
  /** Limit on calls, for tests. */
  maxCalls?: number;
  /** Called when a call starts or ends. */
  onCall(call: ExecutionCall): void;
  /** Called when the transcript is open, before the Body begins. */
  onBegin(transcript: Transcript): void;
  /** Called when the execution begins to wait for a restart of the machine. */
  onRestarting?(): void;
  /** Stores the progress after a call of the Body has changed it. */
  saveProgress(): void;
}

/** An execution that runs on this machine. */
export class RunningExecution {
  private readonly options: ExecutionRunOptions;
  private readonly ending = new AbortController();
  private readonly leaving = new AbortController();
  private readonly wishes: EndWishes = { exitCode: null, reboot: false };
  private why: StopReason | null = null;
  private calls: BodyCalls | null = null;
  /** Name of the script that was running when the execution was stopped. */
  private stoppedScript: string | null = null;

  constructor(options: ExecutionRunOptions) {
    this.options = options;
  }

  /** Ends the Body and, unless the agent stops, the current call. */
  stop(why: StopReason): void {
    if (this.why === null) this.stoppedScript = this.calls?.script ?? null;
    this.why ??= why;
    if (this.why === 'stop') this.leaving.abort();
    else this.ending.abort();
  }

  /** Whether the machine must restart before the result is sent. */
  get wantsReboot(): boolean {
    return this.wishes.reboot && this.why === null;
  }

  /**
   * Runs the execution to completion. Returns null if the agent stops first. The execution then continues when the
   * agent starts again.
   */
  async run(): Promise<ExecutionEnd | null> {
    const { open, found } = this.options;
    const { envelope } = open;
    const left = envelope.timeoutSeconds - secondsSince(open.receivedAt);
    const read = readExecutionPlan(envelope.plan, {
      platforms: platformReport(found, true).platforms,
      id: envelope.id,
    });
    if ('faults' in read) return planRefused(read.code, read.faults);
    if (found.python === null) {
      return refused(errorCodes.platform, 'PlatformMissing', 'This machine has no Python 3, which runs the Body.');
    }
    if (left <= 0) this.stop('time');
    const timer = setTimeout(() => this.stop('time'), Math.max(0, left) * 1000);
    try {
      return await this.runPlan(read.plan, read.converted);
    } finally {
      clearTimeout(timer);
    }
  }

  private async runPlan(plan: ExecutionPlan, isConverted: boolean): Promise<ExecutionEnd | null> {
    const { open, journal, layout } = this.options;
    const secret = secretParameters(layout, open.envelope);
    if ('fault' in secret) return refused(errorCodes.failed, 'SecretsUnavailable', secret.fault);
    plan.parameters = {
      ...(isConverted ? plan.parameters : exactParameters(open.text)),
      ...secret.parameters,
    };
    const calls = new CallJournal(join(open.folder, 'journal.jsonl'));
    const context = this.contextOf(plan, secret.texts, calls.last);
    const { folders, transcript } = context;
    const { progress, why } = this.options;
    try {
      await this.prepare(context, calls);
      this.options.onBegin(transcript);
      transcript.add('begin', { run: progress.run, why });
      const loop = rebootLoop(progress);
      const end = masked(
        loop === null ? await this.runBody(context, calls) : refused(errorCodes.failed, 'RebootLoop', loop),
        secret.texts,
      );
      if (this.why === 'stop') return null;
      if (this.why === 'cancel') transcript.add('note', 'Cancelled.');
      if (this.wantsReboot) transcript.add('reboot');
      transcript.add('done', end.code);
      return end;
    } finally {
      calls.close();
      if (this.why !== 'stop') {
        await endLeftovers(folders.running);
        transcript.finish();
        this.calls?.noteFinished();
        for (const folder of [folders.scripts, folders.work]) discardQuietly(folder, journal);
      }
      transcript.close();
    }
  }

  /**
   * Ends the processes that an earlier run of the agent left running, except the process of the current call. Creates
   * the folders of the execution, and empties them for a new execution.
   */
  private async prepare({ folders, boot }: ExecutionContext, calls: CallJournal): Promise<void> {
    const last = calls.get(calls.last);
    const begun = last?.answer === undefined ? last?.begun : undefined;
    const isKept = begun !== undefined && (begun.boot === boot || begun.awaitsRestart);
    await endLeftovers(folders.running, (id) => isKept && id.startsWith(begun.process));
    for (const folder of [folders.scripts, folders.work]) {
      if (this.options.why === 'first') discard(folder);
      mkdirSync(folder, { recursive: true, mode: 0o755 });
    }
  }

  private async runBody(context: ExecutionContext, journal: CallJournal): Promise<ExecutionEnd> {
    const { plan, folders, transcript, secrets, found, environment, output, ended: signal } = context;
    const { onCall, maxCalls } = this.options;
    if (this.why !== null) return this.stoppedEnd();
    if (plan.body === null) return { code: errorCodes.none, body: 'null' };
    const scripts = new ScriptCalls(context);
    const api = new ExecutionApi(context, this.wishes);
    const calls = new BodyCalls({ context, journal, scripts, api, maxCalls, onCall });
    this.calls = calls;
    const [out, err] = (['out', 'err'] as const).map(
      (kind) =>
        new Lines(secrets, (text, goesOn) => {
          if (!output.isNew(kind, goesOn)) return;
          if (goesOn) transcript.add(kind, 0, text, 1);
          else transcript.add(kind, 0, text);
        }),
    ) as [Lines, Lines];
    const { name, body, parameters, service } = plan;
    let answering: Promise<unknown> = Promise.resolve();
    try {
      const ended = await runBody({
        ...{ folder: folders.root, running: folders.running, work: folders.work, environment, signal },
        python: found.python?.program ?? '',
        plan: JSON.stringify({ name, body, parameters, scripts: [...plan.scripts.keys()], service }),
        onOut: (chunk) => out.write(chunk),
        onErr: (chunk) => err.write(chunk),
        onCall: (call, text, drain) => {
          const answer = calls.answer(call, text, drain);
          answering = answer;
          return answer;
        },
        onLog: (frame) => writeLog(context, frame),
      });
      return this.why === null ? endOf(ended, this.wishes.exitCode) : this.stoppedEnd();
    } finally {
      // A Body may end while its call is still running. Ends the processes of the call before the execution ends.
      if (this.why !== 'stop') this.ending.abort();
      await answering;
      await scripts.end();
      api.close();
      out.end();
      err.end();
    }
  }

  private stoppedEnd(): ExecutionEnd {
    return this.why === 'time' ? timeOver(this.options.open.envelope.timeoutSeconds, this.stoppedScript) : cancelled;
  }

  private contextOf(plan: ExecutionPlan, secrets: readonly string[], lastCall: number): ExecutionContext {
    const {
      layout,
      journal,
      open,
      found,
      progress,
      environment,
      boot,
      canReboot = false,
      sources = noSources,
    } = this.options;
    const root = open.folder;
    const path = join(root, 'transcript.jsonl');
    const work = join(root, 'work');
    const { begunAt } = progress;
    return {
      ...{
        id: open.envelope.id,
        plan,
        planId: open.planId,
        journal,
        secrets,
        found,
        tag: this.options.tag ?? hostname(),
      },
      files: new PlanFiles({
        ...sources,
        cache: new FileCache(layout.planCache, sources.cacheBytes ?? usualCacheBytes),
        pinned: open.envelope.files,
        signal: AbortSignal.any([this.ending.signal, this.leaving.signal]),
      }),
      folders: {
        ...{ root, work, scripts: join(root, 'scripts'), running: join(root, 'running') },
        states: layout.planStates,
      },
      ...{ boot, canReboot, progress },
      output: new ReplayedOutput(path, lastCall),
      transcript: new Transcript(path, () => (begunAt === null ? 0 : secondsSince(begunAt) * 1000)),
      saveProgress: () => this.options.saveProgress(),
      onRestarting: () => this.options.onRestarting?.(),
      environment: {
        ...inheritedEnvironment(environment),
        ANNEX_EXECUTION: open.envelope.id,
        ANNEX_PLAN_NAME: plan.name ?? '',
        ANNEX_SERVICE: plan.service ?? '',
        ANNEX_WORK: work,
      },
      secondsLeft: () => Math.max(0, open.envelope.timeoutSeconds - secondsSince(open.receivedAt)),
      signal: this.ending.signal,
      leaving: this.leaving.signal,
      ended: AbortSignal.any([this.ending.signal, this.leaving.signal]),
    };
  }
}

/** Returns the parameters of a plan, with numbers in their original notation. */
function exactParameters(text: string): Record<string, unknown> {
  const { plan } = parseExactJson(text) as { plan: { Parameters?: Record<string, unknown> } };
  return plan.Parameters ?? {};
}

function masked(end: ExecutionEnd, secrets: readonly string[]): ExecutionEnd {
  if (secrets.length === 0) return end;
  return { ...end, body: JSON.stringify(maskedValue(parseExactJson(end.body), secrets)) };
}

function discardQuietly(folder: string, journal: Journal): void {
  try {
    discard(folder);
  } catch (error) {
    journal.warn(`${folder} could not be deleted: ${sentenceOf(error)}.`);
  }
}

/** Returns the result of an execution as JSON text, in the format of its plan (MU-9, MU-17). */
export function resultOf(open: Pick<OpenExecution, 'planId' | 'envelope'>, end: ExecutionEnd): string {
  const { body } = end;
  const isVCurrent = resultFormatOf(open.envelope.plan) === 'v-current';
  const text = isVCurrent ? vCurrentTextOf(end) : resultTextOf(open.planId, end);
  if (Buffer.byteLength(text) <= executionLimits.resultBytes && depthOf(body) < executionLimits.resultDepth)
    return text;
  const message = 'The result is too large, or nested too deeply, for the portal.';
  return resultOf(open, refused(errorCodes.failed, 'ResultTooLarge', message));
}

function resultTextOf(planId: string, { code, body }: ExecutionEnd): string {
  const ID = randomUUID().replaceAll('-', '');
  const lead = { FormatVersion: '2.0.0', ID, SourceID: planId, Action: 'Execute:Result', ErrorCode: code };
  return `${JSON.stringify(lead).slice(0, -1)},"Body":${body},"Time":${JSON.stringify(new Date().toISOString())}}`;
}

/** Inserts the Body as text, so that its numbers keep their notation. */
function vCurrentTextOf({ code, body }: ExecutionEnd): string {
  const [before, after] = JSON.stringify(toVCurrentResult({ ErrorCode: code, Body: null })).split('null');
  return `${before}${body}${after}`;
}

/** Returns the nesting depth of JSON text. Does not recurse, because deep nesting would overflow the stack. */
function depthOf(text: string): number {
  let [depth, deepest, isText] = [0, 0, false];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (isText) {
      if (character === '\\') at += 1;
      else if (character === '"') isText = false;
    } else if (character === '"') isText = true;
    else if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth);
    else if (character === ']' || character === '}') depth -= 1;
  }
  return deepest;
}
