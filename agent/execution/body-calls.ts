import { createHash, randomUUID } from 'node:crypto';
import {
  type ExecutionCall,
  type ExecutorOptions,
  errorCodes,
  executionLimits,
  parseExactJson,
} from '#protocol/executions/index.ts';
import { sentenceOf } from '../agent-error.ts';
import { maskedText } from '../handler/mask.ts';
import { momentNow } from '../watch/moment.ts';
import { AgentStopped } from './agent-stopped.ts';
import { type ExecutionApi, isRecorded, isRepeatable } from './api/index.ts';
import type { BodyCall } from './body/body-process.ts';
import { CallError } from './call-error.ts';
import type { AnsweredCall, BegunCall, CallJournal, StoredCall } from './call-journal.ts';
import type { ExecutionContext } from './execution-context.ts';
import { maskedValue } from './masked-value.ts';
import { type CallAnswer, callErrorOf, type ScriptCalls } from './script-calls.ts';

export interface BodyCallsOptions {
  context: ExecutionContext;
  journal: CallJournal;
  scripts: ScriptCalls;
  api: ExecutionApi;
  /** Limit on calls, for tests. */
  maxCalls?: number;
  /** Called when a call starts or ends. */
  onCall(call: ExecutionCall): void;
}

/**
 * The answer to `api.waitReboot`. Also the answer to a call during which the agent stops; the Body then ends before it
 * can use the answer.
 */
const noAnswer = '"value":null';

/**
 * Answers the calls of a Body. A call that was answered in an earlier run of the Body is answered from the journal and
 * does not run again.
 */
export class BodyCalls {
  private readonly options: BodyCallsOptions;
  private current: string | null = null;
  private isJournalFull = false;
  /** Ended calls whose last rows are beyond the limit of the transcript. `first` is null if their first rows are not. */
  private readonly cut: { call: ExecutionCall; first: number | null; last: number }[] = [];

  constructor(options: BodyCallsOptions) {
    this.options = options;
  }

  /** Name of the script that is running; null if none is. */
  get script(): string | null {
    return this.current;
  }

  /** Reports the rows of the calls that are beyond the limit of the transcript, once the transcript is finished. */
  noteFinished(): void {
    const { context, onCall } = this.options;
    for (const { call, first, last } of this.cut.splice(0)) {
      const row = first === null ? null : context.transcript.rowAt(first);
      onCall({ ...call, row: row ?? call.row, untilRow: context.transcript.rowAt(last) ?? undefined });
    }
  }

  /**
   * Answers a call. `text` is its frame. `drain` reads the output that the Body wrote before the call. Returns a member
   * of the answering frame, and never rejects.
   */
  async answer(call: BodyCall, text: string, drain: () => void): Promise<string> {
    const { n } = call;
    const { context, journal, maxCalls = executionLimits.calls } = this.options;
    if (n > maxCalls) {
      drain();
      const message = `The Body made more than ${maxCalls} calls.`;
      return `"error":${JSON.stringify(new CallError('TooManyCalls', message).frame)}`;
    }
    const { args, kwargs } = parseExactJson(text) as Pick<BodyCall, 'args' | 'kwargs'>;
    const exact = { ...call, args, kwargs };
    const key = keyOf(exact);
    const before = journal.get(n)?.key;
    if (before !== key || !context.output.isBeforeLast(n)) drain();
    context.output.noteCall(n);
    if (before !== undefined && before !== key) await this.drop(n);
    const stored = journal.get(n);
    if (stored?.answer !== undefined) return this.repeat(exact, stored, stored.answer);
    try {
      return await this.run(exact, key, stored?.begun ?? null);
    } catch (error) {
      if (error instanceof AgentStopped) return noAnswer;
      throw error;
    }
  }

  /** Answers a call from the journal. */
  private async repeat(
    { n, script, function: fn, args, kwargs }: BodyCall,
    { begun }: StoredCall,
    answer: AnsweredCall,
  ) {
    const { context, api, onCall } = this.options;
    context.transcript.add('same', n);
    onCall({ ...answer.call, fromJournal: true });
    // A call that failed has no effect to repeat.
    if (script === null && answer.call.state === 'succeeded') {
      await api.repeat(fn ?? '', [args, kwargs], begun?.at ?? momentNow());
    }
    return answer.frame;
  }

  /** Runs a call, or waits for its process if an earlier run of the agent started the process. */
  private async run(call: BodyCall, key: string, before: BegunCall | null): Promise<string> {
    const { n, script, function: fn } = call;
    const { context, journal, onCall } = this.options;
    const { transcript, boot, leaving } = context;
    if (leaving.aborted) throw new AgentStopped();
    const isSameBoot = before?.boot === boot;
    const hasRestarted = before !== null && !isSameBoot && before.awaitsRestart;
    // A call that continues, or that the restart of the machine completed, keeps its place in the transcript.
    const begun = before !== null && (isSameBoot || hasRestarted) ? before : this.newCall(call);
    // A Body can call a function whose name is a secret parameter.
    const shownFn = fn === null ? null : maskedText(fn, context.secrets);
    const about = { n, script, function: shownFn, row: begun.row, atMs: begun.atMs };
    const first = begun === before ? null : transcript.place;
    if (begun === before) transcript.add('note', hasRestarted ? restartedNote : resumedNote);
    else transcript.add('call', n, script, shownFn, call.line ?? undefined);
    onCall({ ...about, state: 'running' });
    this.current = script;
    let answer: CallAnswer;
    let error: CallError | null = null;
    try {
      if (begun !== before && (script !== null || isRecorded(fn ?? ''))) this.store(() => journal.begin(n, key, begun));
      answer = hasRestarted ? this.answerAfterRestart(call, begun) : await this.make(call, begun, begun === before);
    } catch (thrown) {
      if (thrown instanceof AgentStopped) throw thrown;
      error = callErrorOf({ script: script ?? 'api' }, thrown);
      answer = { frame: `"error":${JSON.stringify(error.frame)}`, exitCode: exitCodeIn(error) };
    }
    // While the agent stops, calls can fail because their processes end. Such a call runs again at the next start.
    if (leaving.aborted) throw new AgentStopped();
    this.current = null;
    const tookMs = Math.max(0, transcript.ms - begun.atMs);
    const { exitCode } = answer;
    const failure =
      error === null ? {} : { error: String(maskedValue(error.message, context.secrets)).slice(0, 4_096) };
    transcript.add('end', n, { ...(exitCode !== undefined && { exitCode }), ms: tookMs, ...failure });
    const state = error === null ? 'succeeded' : 'failed';
    const last = transcript.place - 1;
    const untilRow = transcript.rowAt(last) ?? undefined;
    const ended: ExecutionCall = { ...about, state, untilRow, tookMs, ...(exitCode !== undefined && { exitCode }) };
    if (untilRow === undefined) this.cut.push({ call: ended, first, last });
    const mayRepeat = script === null && error === null && isRepeatable(fn ?? '');
    this.keep(n, key, { frame: answer.frame, call: ended }, mayRepeat);
    onCall(ended);
    return answer.frame;
  }

  private newCall({ script, function: fn }: BodyCall): BegunCall {
    const { transcript, boot, plan } = this.options.context;
    const options = plan.scripts.get(script ?? '')?.options as ExecutorOptions | undefined;
    const awaitsRestart = script === null ? fn === 'waitReboot' : options?.reboots === true;
    const { rows: row, ms: atMs } = transcript;
    return { boot, at: momentNow(), process: randomUUID(), awaitsRestart, row, atMs };
  }

  private async make(call: BodyCall, begun: BegunCall, isResumed: boolean): Promise<CallAnswer> {
    const { scripts, api } = this.options;
    const { n, script, function: fn, args, kwargs } = call;
    if (script === null) return { frame: `"value":${await api.call(fn ?? '', [args, kwargs], begun.at)}` };
    const scriptCall = { n, script, function: fn, args: { positional: args, named: kwargs } };
    return scripts.call(scriptCall, { id: begun.process, isResumed });
  }

  /**
   * Returns the answer to a call during which the machine restarted: a call that waits for a restart, or whose script
   * has the option `reboots`.
   */
  private answerAfterRestart({ script, function: fn }: BodyCall, begun: BegunCall): CallAnswer {
    if (script === null) return { frame: noAnswer };
    return this.options.scripts.answerAfterRestart(script, fn, begun.process);
  }

  /**
   * Stores an answer, then deletes the data from which it could be recovered. The answer is valid even if it cannot be
   * stored.
   */
  private keep(n: number, key: string, answer: AnsweredCall, mayRepeat: boolean): void {
    const { context, journal, scripts } = this.options;
    try {
      const isStored = journal.answer(n, key, answer, mayRepeat);
      if (!isStored && !this.isJournalFull) context.transcript.add('note', fullNote);
      this.isJournalFull = !isStored;
    } catch (error) {
      context.transcript.add('note', `The answer of call ${n} could not be stored: ${sentenceOf(error)}.`);
    }
    scripts.forget();
  }

  private store(write: () => void): void {
    try {
      write();
    } catch (error) {
      const why = sentenceOf(error);
      const message = `The call was not made, because it could not be stored: ${why}.`;
      throw new CallError('FileUnavailable', message, { code: errorCodes.fileUnavailable, info: { why } });
    }
  }

  /** Discards the journal from call `n` on, because the Body now makes different calls. */
  private async drop(n: number): Promise<void> {
    const { context, journal, scripts } = this.options;
    // Only the last call can have a process that is still running.
    const process = journal.get(journal.last)?.begun?.process;
    context.transcript.add('note', 'The Body makes different calls than before. From here on, all calls run.');
    journal.dropFrom(n);
    context.output.noteDropped(n);
    if (process !== undefined) await scripts.endProcess(process);
  }
}

const resumedNote = 'The agent was started again during this call. Some of its output may be missing here.';
const restartedNote = 'The machine restarted during this call, which counts as its success.';
const fullNote = 'The journal of calls is full. From here on, calls run again if the agent is started again.';

/** Identifies a call: its kind, its name and a digest of its arguments. */
function keyOf({ script, function: fn, args, kwargs }: BodyCall): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([args, kwargs]))
    .digest('hex')
    .slice(0, 16);
  return script === null ? `api:${fn}#${digest}` : `script:${script}.${fn ?? '()'}#${digest}`;
}

function exitCodeIn({ info }: CallError): number | undefined {
  const code = typeof info === 'object' && info !== null && 'exitCode' in info ? info.exitCode : null;
  return typeof code === 'number' ? code : undefined;
}
