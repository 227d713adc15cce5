import { Lines } from '../execution/lines.ts';
import { maskedText } from '../handler/mask.ts';
import { OutputFile } from '../handler/output-file.ts';
import type { LogEntry } from './log-entry.ts';

/** The message that explains a failed run: the last one of a level for errors that has an id. */
export interface LoggedReason {
  id: string;
  params: string[];
}

/**
 * The output of one run of a hook, on disk: lines with the seconds since its start and a level, in which secrets are
 * masked. Lines of the standard output have the level INFO, those of the standard error ERROR (EN-23).
 */
export class RunLog {
  readonly path: string;
  private readonly file: OutputFile;
  private readonly out: Lines;
  private readonly err: Lines;
  private readonly secrets: Set<string>;
  private readonly begun = performance.now();
  private last: LoggedReason | null = null;

  /** `secrets` are texts that are masked from the start; texts that `learn` gets are added to them. */
  constructor(path: string, secrets: Set<string>) {
    this.path = path;
    this.secrets = secrets;
    this.file = new OutputFile(path, { secrets: [] });
    this.out = new Lines([...secrets], (text) => this.add('INFO', text));
    this.err = new Lines([...secrets], (text) => this.add('ERROR', text));
  }

  writeOut(chunk: Buffer): void {
    this.out.write(chunk);
  }

  writeErr(chunk: Buffer): void {
    this.err.write(chunk);
  }

  /** Masks these texts in all output from now on (EN-63). */
  learn(texts: readonly string[]): void {
    for (const text of texts) this.secrets.add(text);
    this.out.learn(texts);
    this.err.learn(texts);
  }

  /** Adds a message of `ensemble-log`. */
  entry({ level, message, id, params = [] }: LogEntry): void {
    const text = this.masked(message);
    if (id === undefined) {
      for (const line of text.split('\n')) this.add(level, line);
      return;
    }
    const reason = { id, params: params.map((each) => this.masked(each)) };
    if (level === 'ERROR' || level === 'CRITICAL') this.last = sendable(reason);
    this.add(level, `${JSON.stringify(reason)} ${text.replaceAll('\n', ' ')}`);
  }

  /** Adds a line of the agent. */
  note(text: string): void {
    this.add('ERROR', text);
  }

  /** Writes the rest of the output. Returns the end of it for the request that ends the run. */
  finish(): { tail: string; reason: LoggedReason | null } {
    this.out.end();
    this.err.end();
    const { tail } = this.file.finish('');
    return { tail, reason: this.last };
  }

  private masked(text: string): string {
    return maskedText(text, [...this.secrets]);
  }

  private add(level: string, text: string): void {
    const seconds = ((performance.now() - this.begun) / 1000).toFixed(3);
    this.file.write(Buffer.from(`+${seconds} ${level} ${text}\n`));
  }
}

/**
 * The part of a reason that the portal accepts. A hook can give any bytes, and the outcome of its run must still
 * arrive.
 */
function sendable({ id, params }: LoggedReason): LoggedReason {
  const short = (text: string) => text.slice(0, 1024).toWellFormed().replaceAll('\0', '\ufffd');
  return { id: short(id), params: params.slice(0, 32).map(short) };
}
