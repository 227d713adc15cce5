import { z } from 'zod';
import { executionCall, executionLimits } from '#protocol/executions/index.ts';
import { SyncedLines } from '../folder/synced-lines.ts';
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
 * The calls of a Body and their answers, on disk. When the Body runs again, its calls are answered from the journal, so
 * that they are not repeated.
 */
export class CallJournal {
  private readonly lines: SyncedLines;
  private readonly stored = new Map<number, StoredCall>();
  /** Offset of the first line of each call. The lines are in the order of the calls. */
  private readonly offsets = new Map<number, number>();
  private readonly limit: number;

  /** `limit` is for tests. */
  constructor(path: string, limit: number = executionLimits.journalBytes) {
    this.limit = limit;
    this.lines = new SyncedLines(path, 'the journal of calls', (text, offset) => this.take(text, offset));
  }

  /** Number of the last stored call; 0 if there is none. */
  get last(): number {
    return Math.max(0, ...this.stored.keys());
  }

  get(n: number): StoredCall | undefined {
    return this.stored.get(n);
  }

  /**
   * Records that a call begins, and syncs the record. If the journal is full, the record is only in memory. Throws if
   * the disk is full.
   */
  begin(n: number, key: string, value: BegunCall): void {
    this.append({ n, key, begun: value }, true);
    this.stored.set(n, { key, begun: value });
  }

  /**
   * Stores the answer to a call. Returns false if the journal is full. Throws if the disk is full. The answer is synced
   * immediately or, if the call may run twice (`isRepeatable`), together with the next synced record.
   */
  answer(n: number, key: string, value: AnsweredCall, isRepeatable = false): boolean {
    if (!this.append({ n, key, answer: value }, !isRepeatable)) return false;
    this.stored.set(n, { ...this.stored.get(n), key, answer: value });
    return true;
  }

  /** Deletes this call and all later ones. */
  dropFrom(n: number): void {
    const dropped = [...this.stored.keys()].filter((each) => each >= n);
    const { size } = this.lines;
    this.lines.cut(Math.min(size, ...dropped.map((each) => this.offsets.get(each) ?? size)));
    for (const each of dropped) {
      this.stored.delete(each);
      this.offsets.delete(each);
    }
  }

  close(): void {
    this.lines.close();
  }

  private append(entry: z.input<typeof line>, isSynced: boolean): boolean {
    const text = JSON.stringify(entry);
    const { size } = this.lines;
    if (size + Buffer.byteLength(text) >= this.limit) return false;
    if (isSynced) this.lines.append(text);
    else this.lines.appendUnsynced(text);
    this.noteOffset(entry.n, size);
    return true;
  }

  /** Reads a stored line. Returns false if the line is invalid. */
  private take(text: string, offset: number): boolean {
    const entry = line.safeParse(jsonOf(text));
    if (!entry.success) return false;
    const { n, ...call } = entry.data;
    this.stored.set(n, { ...this.stored.get(n), ...call });
    this.noteOffset(n, offset);
    return true;
  }

  private noteOffset(n: number, offset: number): void {
    if (!this.offsets.has(n)) this.offsets.set(n, offset);
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
