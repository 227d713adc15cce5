import { spawn } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { Socket } from 'node:net';

/** The capacity of a Linux pipe: the most output that can be in transit when a command ends. */
const pipeBytes = 64 * 1024;

/** The buffer of all reads, because new buffers of a long output would stay in memory until Node collects garbage. */
const buffer = Buffer.alloc(pipeBytes);

/**
 * Reads a named pipe, into which the processes of a command write their output. A named pipe outlives the agent, and
 * unlike a socket, it can be opened again by processes as `/dev/stdout`.
 */
export class OutputPipe {
  private readonly path: string;
  private readonly take: (chunk: Buffer) => void;
  private readonly socket: Socket;
  /** A second reader for `drain`, because the socket closes its own when the output ends. */
  private readonly end: number;
  private isOpen = true;

  /** `take` copies what it keeps of a chunk, because the next read overwrites it. */
  constructor(path: string, take: (chunk: Buffer) => void) {
    this.path = path;
    this.take = take;
    this.end = openReader(path);
    this.socket = new Socket({
      fd: openReader(path),
      readable: true,
      onread: {
        buffer,
        callback: (count) => {
          take(buffer.subarray(0, count));
          return true;
        },
      },
    });
    this.socket.on('error', () => {});
  }

  /**
   * Reads what is in transit, once the command has ended. If a process still has the pipe open, such as a service that
   * the command started, its further output is discarded.
   */
  finish(): void {
    // Drains before closing, because a pipe that no process has open loses its contents.
    if (this.drain() === 'open') this.detachReader();
    this.close();
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.socket.destroy();
    closeSync(this.end);
  }

  /** Reads what is in transit. Returns whether a process still has the pipe open for writing. */
  drain(): 'open' | 'ended' {
    if (!this.isOpen) return 'ended';
    try {
      for (let read = 0; read < pipeBytes; ) {
        const count = readSync(this.end, buffer, 0, buffer.length, null);
        if (count === 0) return 'ended';
        this.take(buffer.subarray(0, count));
        read += count;
      }
      return 'open';
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      return 'open';
    }
  }

  /**
   * Starts a process that discards further output: a service that keeps running may write for years, and would block
   * once the pipe is full.
   */
  private detachReader(): void {
    const writer = openSync(this.path, constants.O_RDWR);
    const reader = openSync(this.path, constants.O_RDONLY);
    const options = { stdio: [reader, 'ignore', 'ignore'] as const, detached: true, cwd: '/' };
    const child = spawn('cat', [], { ...options, stdio: [...options.stdio] });
    child.on('error', () => {});
    child.unref();
    closeSync(reader);
    closeSync(writer);
  }
}

const openReader = (path: string): number => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
