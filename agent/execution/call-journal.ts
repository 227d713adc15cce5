import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { executionCall, executionLimits } from '#protocol/executions/index.ts';
import { crashPoint } from '../folder/crash-point.ts';
import { writeAll } from '../folder/write-file.ts';
import { moment } from '../watch/moment.ts';

const begun = z.object({
  /** Id of the boot in which the call began. */
  boot: z.string(),
  at: moment,
  /** Name of the call's process (see `resumeCallProcess`). */
  process: z.string(),
  /** Whether a restart of the machine during the call is expected. */
  awaitsRestart: z.boolean(),
  row: z.int(),
  atMs: z.int(),
});
/** The beginning of a call that changes something. */
export type BegunCall = z.output<typeof begun>;

const answered = z.object({
  /** Member of the answering frame, as JSON text. */
  frame: z.string(),
  call: executionCall,
});
/** The stored answer to a call. */
export type AnsweredCall = z.output<typeof answered>;

const line = z.object({
  n: z.int(),
  key: z.string(),
  begun: begun.optional(),
  answer: answered.optional(),
});

/** What is stored about one call. */
export interface StoredCall {
  /** The kind of the call, its name and a digest of its arguments. */
  key: string;
  begun?: BegunCall;
  answer?: AnsweredCall;
}

/**
 * The calls of a Body and their answers, on disk. When the Body begins again, its calls are answered from here, so that
 * they do not run again. Each line is synced before `begin` or `answer` returns.
 */
export class CallJournal {
  private readonly file: number;
  private readonly stored = new Map<number, StoredCall>();
  /** Offset of the first line of each call. The lines are in the order of the calls. */
  private readonly offsets = new Map<number, number>();
  private size = 0;
  private readonly limit: number;

  /** `limit` is for tests. */
  constructor(path: string, limit: number = executionLimits.journalBytes) {
    this.limit = limit;
    this.file = openSync(path, 'a+', 0o600);
    this.read(readFileSync(this.file));
  }

  /** Number of the last stored call; 0 if there is none. */
  get last(): number {
    return Math.max(0, ...this.stored.keys());
  }

  get(n: number): StoredCall | undefined {
    return this.stored.get(n);
  }

  /** Records that a call begins. Throws if the disk is full. */
  begin(n: number, key: string, value: BegunCall): void {
    this.append({ n, key, begun: value });
    this.stored.set(n, { key, begun: value });
  }

  /** Stores the answer to a call. Returns false if the journal is full. Throws if the disk is full. */
  answer(n: number, key: string, value: AnsweredCall): boolean {
    if (!this.append({ n, key, answer: value })) return false;
    this.stored.set(n, { ...this.stored.get(n), key, answer: value });
    return true;
  }

  /** Forgets this call and all later ones. */
  dropFrom(n: number): void {
    const dropped = [...this.stored.keys()].filter((each) => each >= n);
    this.cut(Math.min(this.size, ...dropped.map((each) => this.offsets.get(each) ?? this.size)));
    for (const each of dropped) {
      this.stored.delete(each);
      this.offsets.delete(each);
    }
  }

  close(): void {
    closeSync(this.file);
  }

  private append(entry: z.input<typeof line>): boolean {
    const bytes = Buffer.from(`${JSON.stringify(entry)}\n`);
    if (this.size + bytes.length > this.limit) return false;
    crashPoint('write the journal of calls');
    try {
      writeAll(this.file, bytes);
      crashPoint('sync the journal of calls');
      fdatasyncSync(this.file);
      this.noteOffset(entry.n, this.size);
      this.size += bytes.length;
      return true;
    } catch (error) {
      this.cut(this.size);
      throw error;
    }
  }

  /** Reads the complete lines, and truncates the file before the first incomplete or invalid one. */
  private read(bytes: Buffer): void {
    let at = 0;
    for (let end = bytes.indexOf('\n'); end >= 0; end = bytes.indexOf('\n', at)) {
      const entry = line.safeParse(jsonOf(bytes.subarray(at, end).toString('utf8')));
      if (!entry.success) break;
      const { n, ...call } = entry.data;
      this.stored.set(n, { ...this.stored.get(n), ...call });
      this.noteOffset(n, at);
      at = end + 1;
    }
    this.size = at;
    if (fstatSync(this.file).size > at) this.cut(at);
  }

  private noteOffset(n: number, offset: number): void {
    if (!this.offsets.has(n)) this.offsets.set(n, offset);
  }

  private cut(size: number): void {
    crashPoint('cut the journal of calls');
    ftruncateSync(this.file, size);
    this.size = size;
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
