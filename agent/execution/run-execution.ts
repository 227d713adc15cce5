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
import { maskedText } from '../handler/mask.ts';
import type { Journal } from '../journal.ts';
import { secondsSince } from '../watch/moment.ts';
import { ExecutionApi } from './api/index.ts';
import { writeLog } from './api/log.ts';
import { type BodyCall, runBody } from './body/body-process.ts';
import { cancelled, type ExecutionEnd, endOf, planRefused, refused, type StopReason, timeOver } from './body/faults.ts';
import { CallError } from './call-error.ts';
import type { EndWishes, ExecutionContext } from './execution-context.ts';
import type { OpenExecution, StoredProgress } from './inbox.ts';
import { Lines } from './lines.ts';
import { maskedValue } from './masked-value.ts';
import { type FoundPlatforms, platformReport } from './platforms.ts';
import { endLeftovers } from './run-process.ts';
import { type CallAnswer, callErrorOf, ScriptCalls } from './script-calls.ts';
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
  why: 'first' | 'agent' | 'reboot';
  /** Limit on calls, for tests. */
  maxCalls?: number;
  /** Called when a call starts or ends. */
  onCall(call: ExecutionCall): void;
  /** Called when the transcript is open, before the Body begins. */
  onBegin(transcript: Transcript): void;
}

/** An execution that runs on this machine. */
export class RunningExecution {
  private readonly options: ExecutionRunOptions;
  private readonly ending = new AbortController();
  private readonly wishes: EndWishes = { exitCode: null, reboot: false };
  private why: StopReason | null = null;
  /** Script of the current call; null if no script is running. */
  private script: string | null = null;

  constructor(options: ExecutionRunOptions) {
    this.options = options;
  }

  /** Ends the Body and the current call. */
  stop(why: StopReason): void {
    this.why ??= why;
    this.ending.abort();
  }

  /**
   * Runs the execution to its end. Returns null if the agent was stopped. The execution then starts over when the agent
   * starts again.
   */
  async run(): Promise<ExecutionEnd | null> {
    const { open, found } = this.options;
    const { envelope } = open;
    const left = envelope.timeoutSeconds - secondsSince(open.receivedAt);
    if (left <= 0) return timeOver(envelope.timeoutSeconds, null);
    const read = readExecutionPlan(envelope.plan, {
      platforms: platformReport(found, true).platforms,
      id: envelope.id,
    });
    if ('faults' in read) return planRefused(read.code, read.faults);
    if (found.python === null) {
      return refused(errorCodes.platform, 'PlatformMissing', 'This machine has no Python 3, which runs the Body.');
    }
    const timer = setTimeout(() => this.stop('time'), left * 1000);
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
    const context = this.contextOf(plan, secret.texts);
    const { folders, transcript } = context;
    try {
      await endLeftovers(folders.running);
      for (const folder of [folders.scripts, folders.work]) {
        discard(folder);
        mkdirSync(folder, { recursive: true, mode: 0o755 });
      }
      this.options.onBegin(transcript);
      transcript.add('begin', { run: this.options.progress.run, why: this.options.why });
      const end = masked(await this.runBody(context), secret.texts);
      if (this.why === 'stop') return null;
      if (this.why === 'cancel') transcript.add('note', 'Cancelled.');
      transcript.add('done', end.code);
      return end;
    } finally {
      if (this.why !== 'stop') transcript.finish();
      transcript.close();
      for (const folder of [folders.scripts, folders.work]) discardQuietly(folder, journal);
    }
  }

  private async runBody(context: ExecutionContext): Promise<ExecutionEnd> {
    const { plan, folders, transcript, secrets, found, environment, signal } = context;
    if (plan.body === null) return { code: errorCodes.none, body: 'null' };
    const scripts = new ScriptCalls(context);
    const api = new ExecutionApi(context, this.wishes);
    const [out, err] = (['out', 'err'] as const).map(
      (kind) =>
        new Lines(secrets, (text, goesOn) =>
          goesOn ? transcript.add(kind, 0, text, 1) : transcript.add(kind, 0, text),
        ),
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
        onCall: (call, text) => {
          const answer = this.answer(context, { scripts, api }, call, text);
          answering = answer;
          return answer;
        },
        onLog: (frame) => writeLog(context, frame),
      });
      if (this.why === 'cancel') return cancelled;
      if (this.why === 'time') return timeOver(this.options.open.envelope.timeoutSeconds, this.script);
      return endOf(ended, this.wishes.exitCode);
    } finally {
      // A Body may end while its call is still running. Ends the processes of the call before the execution ends.
      this.ending.abort();
      await answering;
      await scripts.end();
      out.end();
      err.end();
    }
  }

  /** Answers a call of the Body. Never rejects. */
  private async answer(
    context: ExecutionContext,
    { scripts, api }: { scripts: ScriptCalls; api: ExecutionApi },
    call: BodyCall,
    text: string,
  ): Promise<string> {
    const { transcript, secrets } = context;
    const exact = parseExactJson(text) as Pick<BodyCall, 'args' | 'kwargs'>;
    const { n, script, function: fn } = call;
    const row = transcript.rows;
    const at = transcript.ms;
    const started = performance.now();
    // A Body can call a function whose name is a secret parameter.
    const shownFn = fn === null ? null : maskedText(fn, secrets);
    const about = { n, script, function: shownFn, row, atMs: at };
    const { maxCalls = executionLimits.calls } = this.options;
    if (n > maxCalls) {
      const message = `The Body made more than ${maxCalls} calls.`;
      return `"error":${JSON.stringify(new CallError('TooManyCalls', message).frame)}`;
    }
    transcript.add('call', n, script, shownFn, call.line ?? undefined);
    this.options.onCall({ ...about, state: 'running' });
    this.script = script;
    let answer: CallAnswer;
    let error: CallError | null = null;
    try {
      const args = { positional: exact.args, named: exact.kwargs };
      answer =
        script === null
          ? { frame: `"value":${api.call(fn ?? '', exact.args, exact.kwargs)}` }
          : await scripts.call({ n, script, function: fn, args });
    } catch (thrown) {
      error = callErrorOf({ script: script ?? 'api' }, thrown);
      answer = { frame: `"error":${JSON.stringify(error.frame)}`, exitCode: exitCodeIn(error) };
    }
    this.script = null;
    const ms = Math.round(performance.now() - started);
    const { exitCode } = answer;
    const failure = error === null ? {} : { error: String(maskedValue(error.message, secrets)).slice(0, 4_096) };
    transcript.add('end', n, { ...(exitCode !== undefined && { exitCode }), ms, ...failure });
    const state = error === null ? 'succeeded' : 'failed';
    const untilRow = transcript.rows - 1;
    this.options.onCall({ ...about, state, untilRow, tookMs: ms, ...(exitCode !== undefined && { exitCode }) });
    return answer.frame;
  }

  private contextOf(plan: ExecutionPlan, secrets: readonly string[]): ExecutionContext {
    const { layout, journal, open, found, progress, environment } = this.options;
    const root = open.folder;
    const work = join(root, 'work');
    const { begunAt } = progress;
    return {
      ...{ id: open.envelope.id, plan, planId: open.planId, journal, secrets, found, tag: hostname() },
      folders: {
        ...{ root, work, scripts: join(root, 'scripts'), running: join(root, 'running') },
        states: layout.planStates,
      },
      transcript: new Transcript(join(root, 'transcript.jsonl'), () =>
        begunAt === null ? 0 : secondsSince(begunAt) * 1000,
      ),
      environment: {
        ...inheritedEnvironment(environment),
        ANNEX_EXECUTION: open.envelope.id,
        ANNEX_PLAN_NAME: plan.name ?? '',
        ANNEX_SERVICE: plan.service ?? '',
        ANNEX_WORK: work,
      },
      secondsLeft: () => Math.max(0, open.envelope.timeoutSeconds - secondsSince(open.receivedAt)),
      signal: this.ending.signal,
    };
  }
}

/** Returns the parameters of a plan, with numbers in their original notation. */
function exactParameters(text: string): Record<string, unknown> {
  const { plan } = parseExactJson(text) as { plan: { Parameters?: Record<string, unknown> } };
  return plan.Parameters ?? {};
}

function exitCodeIn({ info }: CallError): number | undefined {
  const code = typeof info === 'object' && info !== null && 'exitCode' in info ? info.exitCode : null;
  return typeof code === 'number' ? code : undefined;
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
