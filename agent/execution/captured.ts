import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { executionLimits } from '#protocol/executions/index.ts';

/** The part of a call's output that the Body receives: the first MiB, without trailing line breaks. */
export class Captured {
  private parts: Buffer[] = [];
  private size = 0;
  /** Path of a copy of the output, in case the agent restarts during the call; null if there is none. */
  private copy: string | null = null;
  isTruncated = false;

  /** Continues with the output in this file, if it exists, and keeps a copy of further output in it. */
  keepIn(path: string): void {
    try {
      this.write(readFileSync(path));
    } catch {
      // If there is no copy, the output starts empty.
    }
    this.copy = path;
  }

  clear(): void {
    this.parts = [];
    this.size = 0;
    this.isTruncated = false;
    this.copy = null;
  }

  write(chunk: Buffer): void {
    const room = executionLimits.capturedBytes - this.size;
    // Stores one byte more than the limit, so that a restarted agent can tell that the output is truncated.
    if (!this.isTruncated) this.store(chunk.subarray(0, room + 1));
    if (chunk.length > room) this.isTruncated = true;
    if (room <= 0) return;
    const part = Buffer.from(chunk.subarray(0, room));
    this.parts.push(part);
    this.size += part.length;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.parts);
  }

  /** The captured text; null if there is none. */
  get text(): string | null {
    const text = this.bytes.toString('utf8').replace(/[\r\n]+$/, '');
    return text === '' ? null : text;
  }

  private store(bytes: Buffer): void {
    if (this.copy === null || bytes.length === 0) return;
    try {
      const file = openSync(this.copy, 'a', 0o600);
      try {
        writeSync(file, bytes);
      } finally {
        closeSync(file);
      }
    } catch {
      // If the disk is full, the output is kept in memory and is lost only if the agent restarts.
      this.copy = null;
    }
  }
}
