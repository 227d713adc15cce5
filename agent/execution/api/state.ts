import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { executionLimits, parseExactJson } from '#protocol/executions/index.ts';
import { SyncedLines } from '../../folder/synced-lines.ts';
import { writeAtomically } from '../../folder/write-file.ts';
import { CallError } from '../call-error.ts';

/** The file of a state is rewritten when it exceeds twice the size of the state by more than this. */
const spareBytes = 64 * 1024;
/** Number of keys in a line of a rewritten file. Objects with very many keys are slow to parse. */
const keysPerLine = 1_000;

/**
 * The state of a Service: JSON values by key. Its file has one line for each change, an object with the new values;
 * null removes a key. Changes are on disk before a call is answered (MU-14).
 */
export class ServiceState {
  private readonly path: string | null;
  private lines: SyncedLines | null = null;
  /** The values, as JSON text. */
  private readonly values = new Map<string, string>();
  /** Size of the state as one JSON object. */
  private size = 1;
  private readonly spare: number;

  /** `service`: null if the plan has no Service; every call then fails. `spare` is for tests. */
  constructor(folder: string, service: string | null, spare = spareBytes) {
    const name = createHash('sha256')
      .update(service ?? '')
      .digest('hex');
    this.path = service === null ? null : join(folder, `${name}.jsonl`);
    this.spare = spare;
  }

  /** Returns the value of a key as JSON text; `null` if there is none. */
  get(key: unknown): string {
    this.open(key);
    return this.values.get(key as string) ?? 'null';
  }

  /** Stores a value; null removes the key. Values from `parseExactJson` keep the notation of their numbers. */
  set(key: unknown, value: unknown): void {
    const path = this.open(key);
    const name = key as string;
    const text = JSON.stringify(value ?? null);
    if (Buffer.byteLength(text) > executionLimits.stateValueBytes) throw tooLarge('The value', 'stateValueBytes');
    if (this.sizeWith(name, text) > executionLimits.stateBytes) throw tooLarge('The state', 'stateBytes');
    this.lines ??= this.create(path);
    this.lines.append(`{${memberOf(name, text)}}`);
    this.note(name, text);
    if (this.lines.size > 2 * this.size + this.spare) this.rewrite(path);
  }

  close(): void {
    this.lines?.close();
    this.lines = null;
  }

  private open(key: unknown): string {
    if (this.path === null) throw new CallError('StateUnavailable', 'The plan has no Service.');
    if (typeof key !== 'string') throw new CallError('TypeError', 'The key of a state must be a text.');
    if (this.lines === null && existsSync(this.path)) this.lines = this.read(this.path);
    return this.path;
  }

  private read(path: string): SyncedLines {
    return new SyncedLines(path, 'the state of a Service', (line) => {
      const changes = objectIn(line);
      if (changes === null) return false;
      for (const [key, value] of Object.entries(changes)) this.note(key, JSON.stringify(value));
      return true;
    });
  }

  /** Creates the file so that it survives a power failure. */
  private create(path: string): SyncedLines {
    writeAtomically(path, '');
    return this.read(path);
  }

  /** Replaces the lines with as few as possible. If the disk is full, the file stays as it is, which is also correct. */
  private rewrite(path: string): void {
    try {
      writeAtomically(path, linesOf(this.values));
    } catch {
      return;
    }
    this.close();
    this.lines = this.read(path);
  }

  private note(key: string, text: string): void {
    this.size = this.sizeWith(key, text);
    if (text === 'null') this.values.delete(key);
    else this.values.set(key, text);
  }

  private sizeWith(key: string, text: string): number {
    const before = this.values.get(key);
    const gone = before === undefined ? 0 : memberBytes(key, before);
    return this.size - gone + (text === 'null' ? 0 : memberBytes(key, text));
  }
}

const memberOf = (key: string, text: string): string => `${JSON.stringify(key)}:${text}`;

/** Returns the lines of a file with these values. */
function linesOf(values: ReadonlyMap<string, string>): string {
  const members = [...values].map((entry) => memberOf(...entry));
  const lines = Array.from({ length: Math.ceil(members.length / keysPerLine) }, (_, index) =>
    members.slice(index * keysPerLine, (index + 1) * keysPerLine),
  );
  return lines.map((line) => `{${line.join(',')}}\n`).join('');
}

/** Size of a member and the comma or brace after it. */
const memberBytes = (key: string, text: string): number => Buffer.byteLength(memberOf(key, text)) + 1;

/** Parses a line. Returns null if it is not a JSON object. */
function objectIn(line: string): object | null {
  try {
    const value = parseExactJson(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function tooLarge(what: string, limit: 'stateValueBytes' | 'stateBytes'): CallError {
  return new CallError('StateTooLarge', `${what} is larger than ${executionLimits[limit] / 1024 / 1024} MiB.`);
}
