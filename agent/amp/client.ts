import { connect, type Socket } from 'node:net';
import { AmpError } from './amp-error.ts';
import { type Box, boxOf, encodeBox } from './box.ts';
import { BoxParser } from './box-parser.ts';

interface Waiting {
  resolve(box: Box): void;
  reject(error: unknown): void;
}

/** A connection to a server of AMP. Commands may be sent before earlier ones are answered. */
export class AmpClient {
  private readonly socket: Socket;
  private readonly parser = new BoxParser();
  private readonly waiting = new Map<string, Waiting>();
  private asks = 0;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => this.read(chunk));
    socket.on('error', (error) => this.fail(error));
    socket.on('close', () => this.fail(new Error('The agent closed the connection before it answered.')));
  }

  /** Rejects if no server listens at the path. */
  static open(path: string): Promise<AmpClient> {
    return new Promise((resolve, reject) => {
      const socket = connect(path);
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new AmpClient(socket));
      });
    });
  }

  /** Rejects with AmpError if the server answers with an error, and with BoxTooLong if an argument is too long. */
  async call(command: string, values: Record<string, string | Buffer | undefined>): Promise<Box> {
    this.asks += 1;
    const ask = this.asks.toString(16);
    const bytes = encodeBox(boxOf({ _ask: ask, _command: command, ...values }));
    if (this.socket.destroyed) throw new Error('The connection to the agent is closed.');
    const answer = new Promise<Box>((resolve, reject) => this.waiting.set(ask, { resolve, reject }));
    this.socket.write(bytes);
    return await answer;
  }

  close(): void {
    this.socket.destroy();
  }

  private read(chunk: Buffer): void {
    this.parser.push(chunk);
    try {
      for (let box = this.parser.next(); box !== null; box = this.parser.next()) this.take(box);
    } catch (error) {
      this.fail(error);
      this.close();
    }
  }

  private take(box: Box): void {
    const ask = (box.get('_answer') ?? box.get('_error'))?.toString('utf8') ?? '';
    const waiting = this.waiting.get(ask);
    this.waiting.delete(ask);
    if (box.has('_answer')) {
      box.delete('_answer');
      waiting?.resolve(box);
    } else {
      const textOf = (key: string) => box.get(key)?.toString('utf8') ?? '';
      waiting?.reject(new AmpError(textOf('_error_code'), textOf('_error_description')));
    }
  }

  private fail(error: unknown): void {
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}
