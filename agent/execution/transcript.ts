import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { executionLimits, type TranscriptRecord } from '#protocol/executions/index.ts';
import { crashPoint } from '../folder/crash-point.ts';

/** Number of bytes kept from the end of a transcript that exceeds the limit. */
const endBytes = 1024 * 1024;
/** Space reserved for notes about missing bytes or rows. */
const noteBytes = 1024;
/** Maximum size of a row. A larger row, such as a log message with a long stack, is replaced with a note. */
const maxRowBytes = 512 * 1024;
const readBytes = 64 * 1024;
const lineFeed = 0x0a;
/** The buffer of all rows, because a new one per row would stay in memory until Node collects garbage (MU-41). */
const rowBuffer = Buffer.alloc(maxRowBytes);

/**
 * The transcript of an execution, on disk: JSON arrays, one per line, which are only appended. Beyond the size limit,
 * keeps the first 63 MiB, the last MiB, and a note about the missing bytes between them. Callers mask secrets.
 */
export class Transcript {
  readonly path: string;
  private readonly file: number;
  private readonly now: () => number;
  private readonly room: number;
  private bytes: number;
  private count: number;
  /** The last rows beyond the limit, which `finish` writes. */
  private end: string[] = [];
  private endSize = 0;
  private beyond = 0;
  /** Number of rows beyond the limit. */
  private beyondRows = 0;
  /** How the rows beyond the limit were numbered when the transcript was finished. */
  private numbered: { first: number; missing: number; kept: number } | null = null;
  /** Number of rows that could not be written to disk. */
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
    // A power failure can cut off the last row. Ends this row with a newline, so that it keeps its number.
    if (!isWhole) this.append(Buffer.from('\n'), 1);
  }

  /** The number of the next row. */
  get rows(): number {
    return this.count;
  }

  /** The place of the next row: its number if nothing is cut. `rowAt` returns the number that it finally has. */
  get place(): number {
    return (this.numbered?.first ?? this.count) + this.beyondRows;
  }

  /**
   * Returns the number of the row at a place; for a row that was cut, the number of the note that replaces it. Returns
   * null if the row is beyond the limit and the transcript is not finished.
   */
  rowAt(place: number): number | null {
    if (this.numbered === null) return place < this.count ? place : null;
    const { first, missing, kept } = this.numbered;
    if (place < first) return place;
    return place - first < missing ? first : kept + place - first - missing;
  }

  /** Number of bytes on disk. */
  get size(): number {
    return this.bytes;
  }

  /** Milliseconds since the Body first began. */
  get ms(): number {
    return Math.max(0, Math.round(this.now()));
  }

  /** Adds a row with the current time. Never throws, so that a full disk does not fail the execution. */
  add(...record: Untimed<TranscriptRecord>): void {
    if (!this.isOpen) return;
    let row = `${JSON.stringify([this.ms, ...record.filter((each) => each !== undefined)])}\n`;
    let size = Buffer.byteLength(row);
    if (size > maxRowBytes) {
      row = this.noteOf(`Cut: a row of ${size} bytes is missing here.`);
      size = Buffer.byteLength(row);
    }
    if (this.endSize === 0 && this.bytes + size <= this.room) {
      rowBuffer.write(row);
      this.append(rowBuffer.subarray(0, size), 1);
      return;
    }
    this.end.push(row);
    this.endSize += size;
    this.beyond += size;
    this.beyondRows += 1;
    while (this.end.length > 1 && this.endSize > endBytes) this.endSize -= Buffer.byteLength(this.end.shift() ?? '');
  }

  /** Writes the last rows and notes about missing ones, then closes the file. */
  finish(): void {
    if (!this.isOpen) return;
    const missing = this.beyond - this.endSize;
    const first = this.count;
    if (missing > 0) this.append(Buffer.from(this.noteOf(`Cut: ${missing} bytes are missing here.`)), 1);
    this.numbered = { first, missing: this.beyondRows - this.end.length, kept: this.count };
    if (this.end.length > 0) this.append(Buffer.from(this.end.join('')), this.end.length);
    if (this.lost > 0) this.append(Buffer.from(this.noteOf(`Cut: the disk could not store ${this.lost} rows.`)), 1);
    this.close();
  }

  close(): void {
    if (this.isOpen) closeSync(this.file);
    this.isOpen = false;
  }

  private noteOf(text: string): string {
    return `${JSON.stringify([this.ms, 'note', text])}\n`;
  }

  private append(bytes: Buffer, rows: number): void {
    let at = 0;
    try {
      crashPoint('write the transcript');
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
