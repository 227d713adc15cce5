import type { Readable, Writable } from 'node:stream';

const lineFeed = 0x0a;

/** Why further frames cannot be read: a frame was too long, or was not a JSON object. */
export type FrameFault = 'long' | 'garbage';

interface FrameOptions {
  from: Readable;
  to: Writable;
  /** Size limit of a frame, in bytes. */
  limit: number;
  /** Receives each frame, parsed and as text. */
  onFrame(frame: Record<string, unknown>, text: string): void;
  /** Called at most once. Frames are not read after this call. */
  onFault(fault: FrameFault): void;
}

/** Exchanges frames with a process: JSON objects, one per line. */
export class Frames {
  private readonly options: FrameOptions;
  private parts: Buffer[] = [];
  private size = 0;
  private isOver = false;

  constructor(options: FrameOptions) {
    this.options = options;
    options.from.on('data', (chunk: Buffer) => this.take(chunk));
    // Errors of the pipes are ignored, because the exit of the process is detected separately.
    options.from.on('error', () => {});
    options.to.on('error', () => {});
  }

  /** Sends a frame, given as JSON text. */
  send(text: string): void {
    if (!this.isOver) this.options.to.write(`${text}\n`);
  }

  /** Closes both pipes, and ignores everything that arrives later. */
  close(): void {
    this.isOver = true;
    this.parts = [];
    this.options.from.destroy();
    this.options.to.destroy();
  }

  private take(chunk: Buffer): void {
    let rest = chunk;
    while (!this.isOver) {
      const end = rest.indexOf(lineFeed);
      const part = end < 0 ? rest : rest.subarray(0, end);
      this.size += part.length;
      if (this.size > this.options.limit) {
        this.fail('long');
        return;
      }
      if (part.length > 0) this.parts.push(part);
      if (end < 0) return;
      const text = Buffer.concat(this.parts).toString('utf8');
      this.parts = [];
      this.size = 0;
      rest = rest.subarray(end + 1);
      this.read(text);
    }
  }

  private read(text: string): void {
    const frame = frameIn(text);
    if (frame === null) this.fail('garbage');
    else this.options.onFrame(frame, text);
  }

  private fail(fault: FrameFault): void {
    this.close();
    this.options.onFault(fault);
  }
}

/** Parses a JSON object. Returns null for any other text. */
function frameIn(text: string): Record<string, unknown> | null {
  try {
    const frame: unknown = JSON.parse(text);
    return typeof frame === 'object' && frame !== null && !Array.isArray(frame) ? { ...frame } : null;
  } catch {
    return null;
  }
}
