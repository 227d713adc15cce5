import { once } from 'node:events';
import { join } from 'node:path';
import { executionLimits } from '#protocol/executions/index.ts';
import { writeAtomically } from '../../folder/write-file.ts';
import { wait } from '../../portal/wait.ts';
import { type ProcessEnd, startProcess } from '../run-process.ts';
import { bodyProgram } from './body.py.ts';
import { type FrameFault, Frames } from './frames.ts';

/** Number of bytes kept from the end of the standard error, for a Body that ends without a result. */
const stderrBytes = 4 * 1024;
/** Effectively no time limit, in seconds: the signal ends the Body at the deadline of the execution. */
const noLimitSeconds = 2_000_000;

export interface BodyStart {
  /** Folder of the execution. */
  folder: string;
  running: string;
  work: string;
  python: string;
  environment: Record<string, string>;
  /** The parts of the plan that the Body's process needs, as JSON text. */
  plan: string;
  signal: AbortSignal;
  onOut(chunk: Buffer): void;
  onErr(chunk: Buffer): void;
  /**
   * Answers a call. `text` is its frame. Resolves to a member of the answering frame, such as `"value":1`. Never
   * rejects. `drain` reads the output that the Body wrote before the call.
   */
  onCall(frame: BodyCall, text: string, drain: () => void): Promise<string>;
  onLog(frame: Record<string, unknown>): void;
}

/** A call that a Body makes. */
export interface BodyCall {
  n: number;
  /** Name of the script; null for a call of `api`. */
  script: string | null;
  function: string | null;
  args: unknown[];
  kwargs: Record<string, unknown>;
  line: number | null;
}

/** How a Body ended: with a value (JSON text), with an exception, with an invalid frame, or without a result. */
export type BodyEnd =
  | { done: string }
  | { failed: Record<string, unknown> }
  | { fault: FrameFault }
  | { end: ProcessEnd; stderr: string };

/** Runs a Body in its own Python process. Ends all processes that the Body leaves running. */
export async function runBody(start: BodyStart): Promise<BodyEnd> {
  const program = join(start.folder, 'body.py');
  writeAtomically(program, bodyProgram);
  let stderr = Buffer.alloc(0);
  const body = await startProcess({
    ...start,
    program: start.python,
    args: ['-I', '-S', '-B', '-u', '-X', 'utf8', program],
    cwd: start.work,
    memory: executionLimits.bodyMemoryBytes,
    frames: true,
    seconds: noLimitSeconds,
    onErr: (chunk) => {
      stderr = Buffer.concat([stderr, chunk]).subarray(-stderrBytes);
      start.onErr(chunk);
    },
  });
  const { frames: pipes } = body;
  if (pipes === null) throw new Error('a Body needs frames');
  let answered: BodyEnd | null = null;
  let isBusy = false;
  let calls = 0;
  const conclude = (end: BodyEnd): void => {
    answered ??= end;
    body.endAll();
  };
  const frames = new Frames({
    ...pipes,
    limit: executionLimits.frameBytes,
    onFault: (fault) => conclude({ fault }),
    onFrame: (frame, text) => {
      if (answered !== null) return;
      const call = callOf(frame);
      // In the transcript, output that the Body wrote before the frame must come first.
      if (call === null) body.drain();
      if ('log' in frame) start.onLog(frame);
      else if ('done' in frame) conclude({ done: doneOf(frame, text) });
      else if (isObject(frame.failed)) conclude({ failed: frame.failed });
      else if (call === null || isBusy || call.n !== calls + 1) conclude({ fault: 'garbage' });
      else {
        isBusy = true;
        calls = call.n;
        void start
          .onCall(call, text, () => body.drain())
          .then((answer) => {
            isBusy = false;
            frames.send(`{"n":${call.n},${answer}}`);
          });
      }
    },
  });
  frames.send(`{"plan":${start.plan}}`);
  const end = await body.ended;
  body.endAll();
  // The last frame may arrive after the process has ended.
  if (answered === null && !pipes.from.readableEnded) await Promise.race([once(pipes.from, 'close'), wait(1, [])]);
  frames.close();
  return answered ?? { end, stderr: stderr.toString('utf8') };
}

/** Returns the Body's value as JSON text, unchanged if possible, so that numbers keep their notation. */
function doneOf(frame: Record<string, unknown>, text: string): string {
  const lead = '{"done":';
  const value = text.slice(lead.length, text.lastIndexOf('}'));
  if (!text.startsWith(lead) || Object.keys(frame).length !== 1) return JSON.stringify(frame.done);
  try {
    JSON.parse(value);
    return value;
  } catch {
    return JSON.stringify(frame.done);
  }
}

function callOf(frame: Record<string, unknown>): BodyCall | null {
  const { n, call, script, name, function: fn = null, args, kwargs, line } = frame;
  if (typeof n !== 'number' || !Array.isArray(args) || !isObject(kwargs)) return null;
  const where = { n, args: args as unknown[], kwargs, line: typeof line === 'number' ? line : null };
  if (call === 'api' && typeof name === 'string') return { ...where, script: null, function: name };
  if (call !== 'script' || typeof script !== 'string') return null;
  return fn === null || typeof fn === 'string' ? { ...where, script, function: fn } : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
