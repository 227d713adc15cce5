import { once } from 'node:events';
import { join } from 'node:path';
import { executionLimits } from '#protocol/executions/index.ts';
import { writeAtomically } from '../../folder/write-file.ts';
import { wait } from '../../portal/wait.ts';
import { type ProcessEnd, startProcess } from '../run-process.ts';
import { bodyProgram } from './body.py.ts';
import { type FrameFault, Frames } from './frames.ts';

/** How many bytes of the Body's standard error are kept for a Body that ends without an answer. */
const stderrBytes = 4 * 1024;
/** The longest time that a timer can have, in seconds. The signal ends the Body at its deadline. */
const noLimitSeconds = 2_000_000;

export interface BodyStart {
  /** Folder of the execution. */
  folder: string;
  running: string;
  work: string;
  python: string;
  environment: Record<string, string>;
  /** What the Body gets, as JSON text. */
  plan: string;
  signal: AbortSignal;
  onOut(chunk: Buffer): void;
  onErr(chunk: Buffer): void;
  /** Answers a call with a frame, as JSON text without its number. Never rejects. */
  onCall(frame: BodyCall, text: string): Promise<string>;
  onLog(frame: Record<string, unknown>): void;
}

/** A call of a Body. */
export interface BodyCall {
  n: number;
  /** The name of the script; null for a call of `api`. */
  script: string | null;
  function: string | null;
  args: unknown[];
  kwargs: Record<string, unknown>;
  line: number | null;
}

/** How a Body ended: with a value (JSON text), an exception, or without an answer. */
export type BodyEnd =
  | { done: string }
  | { failed: Record<string, unknown> }
  | { fault: FrameFault }
  | { end: ProcessEnd; stderr: string };

/** Runs a Body in its own Python process. Everything that it started in its process group ends with it. */
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
      // What the Body printed before the frame comes before it in the transcript.
      body.drain();
      const call = callOf(frame);
      if ('log' in frame) start.onLog(frame);
      else if ('done' in frame) conclude({ done: doneOf(frame, text) });
      else if (isObject(frame.failed)) conclude({ failed: frame.failed });
      else if (call === null || isBusy || call.n !== calls + 1) conclude({ fault: 'garbage' });
      else {
        isBusy = true;
        calls = call.n;
        void start.onCall(call, text).then((answer) => {
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

/** Returns the value as the JSON text that the Body wrote, so that no digit changes. */
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
