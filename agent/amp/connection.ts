import type { Socket } from 'node:net';
import { AmpError } from './amp-error.ts';
import { type Box, BoxTooLong, boxOf, encodeBox } from './box.ts';
import { AmpFault, BoxParser } from './box-parser.ts';

/** Answers a command. Throws AmpError. */
export type Responder = (command: string, box: Box) => Promise<Box>;

/** Calls `action` after the seconds, unless the returned function is called before. */
export type Timer = (seconds: number, action: () => void) => () => void;

export interface ConnectionOptions {
  respond: Responder;
  timer: Timer;
  /** Receives errors that are faults of the agent. */
  onFault(error: unknown): void;
}

const maxUnderWay = 64;
const boxSeconds = 60;
const maxDescription = 1_000;

/** One connection of a client: reads boxes and writes the answers as they become ready. */
export class AmpConnection {
  /** How many boxes have been read and not answered. */
  underWay = 0;
  private readonly parser = new BoxParser();
  private readonly socket: Socket;
  private readonly options: ConnectionOptions;
  private cancelTimer: (() => void) | null = null;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.socket = socket;
    this.options = options;
    // Each answer that waits for the client to read listens to the socket.
    socket.setMaxListeners(maxUnderWay + 10);
    socket.on('data', (chunk: Buffer) => {
      this.parser.push(chunk);
      this.pump();
    });
    // Answers to a client that is gone, or that sent its last box, have no reader.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.stopTimer());
  }

  close(): void {
    this.socket.destroy();
  }

  /** Reads boxes, at most 64 ahead of the answers. */
  private pump(): void {
    try {
      while (!this.socket.destroyed && this.underWay < maxUnderWay) {
        const box = this.parser.next();
        if (box === null) break;
        this.stopTimer();
        this.take(box);
      }
    } catch (error) {
      if (!(error instanceof AmpFault)) this.options.onFault(error);
      this.close();
      return;
    }
    if (this.underWay >= maxUnderWay) {
      this.stopTimer();
      this.socket.pause();
    } else {
      this.socket.resume();
      if (this.parser.isWithinBox) this.cancelTimer ??= this.options.timer(boxSeconds, () => this.close());
    }
  }

  private take(box: Box): void {
    const command = box.get('_command')?.toString('utf8');
    if (command === undefined || box.has('_answer') || box.has('_error')) {
      throw new AmpFault('A box is not a command.');
    }
    this.underWay += 1;
    void this.answer(command, box).then(() => {
      this.underWay -= 1;
      this.pump();
    });
  }

  private async answer(command: string, box: Box): Promise<void> {
    const ask = box.get('_ask');
    let bytes: Buffer;
    try {
      const answer = await this.options.respond(command, box);
      bytes = ask === undefined ? Buffer.alloc(0) : encodeBox(new Map([['_answer', ask], ...answer]));
    } catch (error) {
      bytes = ask === undefined ? Buffer.alloc(0) : encodeBox(this.errorBox(ask, error));
    }
    if (bytes.length === 0 || this.socket.destroyed) return;
    // A client that sends without reading its answers is read no further.
    if (!this.socket.write(bytes)) await this.drained();
  }

  private errorBox(ask: Buffer, error: unknown): Box {
    const [code, description] = this.explain(error);
    return new Map([
      ['_error', ask],
      ...boxOf({ _error_code: code, _error_description: description.slice(0, maxDescription) }),
    ]);
  }

  private explain(error: unknown): [code: string, description: string] {
    if (error instanceof AmpError) return [error.code, error.message];
    if (error instanceof BoxTooLong) return ['TooLong', error.message];
    this.options.onFault(error);
    return ['UNKNOWN', 'The agent could not answer this command.'];
  }

  private drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.socket.off('drain', done);
        this.socket.off('close', done);
        resolve();
      };
      this.socket.once('drain', done);
      this.socket.once('close', done);
    });
  }

  private stopTimer(): void {
    this.cancelTimer?.();
    this.cancelTimer = null;
  }
}
