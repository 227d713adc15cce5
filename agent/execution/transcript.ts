import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { executionLimits, type TranscriptRecord } from '#protocol/executions/index.ts';

/** How many bytes are kept from the end of a transcript that exceeds the limit. */
const endBytes = 1024 * 1024;
/** Room for the note about what is missing. */
const noteBytes = 1024;
/** Size limit of a row. Only a log message with a long stack is longer. */
const maxRowBytes = 512 * 1024;
const readBytes = 64 * 1024;
const lineFeed = 0x0a;

/**
 * What an execution told, on disk: JSON arrays, one a line, only ever appended. Limited in size: the first 63 MiB, the
 * last MiB, and a note about what is missing between them. Callers mask secrets.
 */
export class Transcript {
  readonly path: string;
  private readonly file: number;
  private readonly now: () => number;
  private readonly room: number;
  private bytes: number;
  private count: number;
  /** The last rows beyond the limit. */
  private end: Buffer[] = [];
  private endSize = 0;
  private beyond = 0;
  /** Number of rows that the disk rejected. */
  private lost = 0;
  private isOpen = true;

  /** `now` returns the milliseconds since the Body first began. `limit` is for tests. */
  constructor(path: string, now: () => number, limit: number = executionLimits.transcriptBytes) {
    this.path = path;
    this.now = now;
    this.room = limit - endBytes - noteBytes;
    this.file = openSync(path, 'a+', 0o600);
    const { rows, isWhole } = countRows(this.file);
    this.count = rows;
    this.bytes = fstatSync(this.file).size;
    // A row whose end was lost with the power stays a row: its number never means another line.
    if (!isWhole) this.append(Buffer.from('\n'), 1);
  }

  /** The number of the next row. */
  get rows(): number {
    return this.count;
  }

  /** Number of bytes on disk. */
  get size(): number {
    return this.bytes;
  }

  /** Milliseconds since the Body first began. */
  get ms(): number {
    return Math.max(0, Math.round(this.now()));
  }

  /** Writes a row, given without its time. Never throws: an execution does not fail because its transcript does. */
  add(...record: Untimed<TranscriptRecord>): void {
    if (!this.isOpen) return;
    let row = Buffer.from(`${JSON.stringify([this.ms, ...record.filter((each) => each !== undefined)])}\n`);
    if (row.length > maxRowBytes) row = this.noteOf(`Cut: a row of ${row.length} bytes is missing here.`);
    if (this.endSize === 0 && this.bytes + row.length <= this.room) {
      this.append(row, 1);
      return;
    }
    this.end.push(row);
    this.endSize += row.length;
    this.beyond += row.length;
    while (this.end.length > 1 && this.endSize > endBytes) this.endSize -= this.end.shift()?.length ?? 0;
  }

  /** Writes the rows from the end. Nothing can be added after it. */
  finish(): void {
    if (!this.isOpen) return;
    const missing = this.beyond - this.endSize;
    if (missing > 0) this.append(this.noteOf(`Cut: ${missing} bytes are missing here.`), 1);
    if (this.end.length > 0) this.append(Buffer.concat(this.end), this.end.length);
    if (this.lost > 0) this.append(this.noteOf(`Cut: the disk could not store ${this.lost} rows.`), 1);
    this.close();
  }

  close(): void {
    if (this.isOpen) closeSync(this.file);
    this.isOpen = false;
  }

  private noteOf(text: string): Buffer<ArrayBuffer> {
    return Buffer.from(`${JSON.stringify([this.ms, 'note', text])}\n`);
  }

  private append(bytes: Buffer, rows: number): void {
    let at = 0;
    try {
      while (at < bytes.length) at += writeSync(this.file, bytes, at);
      this.count += rows;
    } catch {
      this.lost += rows;
    }
    this.bytes += at;
  }
}

type Untimed<Row> = Row extends [number, ...infer Rest] ? Rest : never;

function countRows(file: number): { rows: number; isWhole: boolean } {
  const buffer = Buffer.alloc(readBytes);
  let rows = 0;
  let last = lineFeed;
  for (let at = 0; ; ) {
    const read = readSync(file, buffer, 0, buffer.length, at);
    if (read === 0) return { rows, isWhole: last === lineFeed };
    for (let index = 0; index < read; index += 1) if (buffer[index] === lineFeed) rows += 1;
    last = buffer[read - 1] ?? lineFeed;
    at += read;
  }
}
