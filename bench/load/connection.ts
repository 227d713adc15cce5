import { connect, type Socket } from 'node:net';

/** A response: its status, or the code of the error that occurred instead. */
export interface HttpReply {
  /** 0 if there was no response. */
  status: number;
  /** Status line and headers. */
  head: string;
  body: string;
  error: string | null;
}

/** All sockets read into one buffer, which is safe, because no other read can interrupt a read and its callback. */
const place = Buffer.allocUnsafeSlow(64 * 1024);
const pauseMs = 100;

/**
 * A keep-alive connection that carries one request at a time. It supports only the part of HTTP/1.1 that the gateway
 * uses, because the load generator must cost little compared with the measured process.
 */
export class Connection {
  readonly #host: string;
  readonly #port: number;
  #socket: Socket | null = null;
  #partial = '';
  #waiting: ((reply: HttpReply) => void) | null = null;
  #failedAt = 0;
  #closed = false;

  constructor(host: string, port: number) {
    this.#host = host;
    this.#port = port;
  }

  /**
   * Sends a whole request. `done` is called as soon as the last byte of the response has been read. Only one request
   * may be in progress.
   */
  send(request: string, done: (reply: HttpReply) => void): void {
    this.#waiting = done;
    // After a failure, waits briefly before reconnecting, as an agent does.
    const pause = this.#socket === null ? this.#failedAt + pauseMs - performance.now() : 0;
    if (pause > 0) setTimeout(() => this.#write(request), pause);
    else this.#write(request);
  }

  /** Closes the connection. A request in progress ends with the error `closed`. */
  close(): void {
    this.#closed = true;
    this.#drop(this.#socket, 'closed');
  }

  /** Ends the request in progress with this error. The next request opens the connection again. */
  giveUp(error: string): void {
    this.#drop(this.#socket, error);
  }

  #write(request: string): void {
    if (this.#closed) {
      this.#drop(null, 'closed');
      return;
    }
    this.#socket ??= this.#open();
    this.#socket.write(request, 'latin1');
  }

  #open(): Socket {
    const socket: Socket = connect({
      host: this.#host,
      port: this.#port,
      noDelay: true,
      onread: {
        buffer: place,
        callback: (size) => {
          this.#read(place.toString('latin1', 0, size));
          return true;
        },
      },
    });
    socket.on('error', (error: NodeJS.ErrnoException) => this.#drop(socket, error.code ?? 'error'));
    socket.on('close', () => this.#drop(socket, 'hung up'));
    return socket;
  }

  #read(text: string): void {
    const all = this.#partial === '' ? text : this.#partial + text;
    const reply = parseReply(all);
    if (reply === null) {
      this.#partial = all;
      return;
    }
    this.#partial = '';
    if (/\r\nconnection: close/i.test(reply.head)) {
      this.#socket?.destroy();
      this.#socket = null;
    }
    this.#settle(reply);
  }

  #drop(socket: Socket | null, error: string): void {
    if (socket !== null) {
      socket.destroy();
      if (socket !== this.#socket) return;
      this.#socket = null;
      this.#partial = '';
    }
    if (this.#waiting === null) return;
    this.#failedAt = performance.now();
    this.#settle({ status: 0, head: '', body: '', error });
  }

  #settle(reply: HttpReply): void {
    const done = this.#waiting;
    this.#waiting = null;
    done?.(reply);
  }
}

/** Parses one response; null while it is incomplete. */
export function parseReply(text: string): HttpReply | null {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const status = Number(text.slice(9, 12));
  const from = end + 4;
  const head = text.slice(0, end);
  if (status === 204 || status === 304) return { status, head, body: '', error: null };
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length !== undefined) {
    const to = from + Number(length);
    return text.length < to ? null : { status, head, body: text.slice(from, to), error: null };
  }
  // Only error responses are chunked, and their bodies are not decoded.
  return text.endsWith('0\r\n\r\n') ? { status, head, body: text.slice(from), error: null } : null;
}

/** Returns the value of a header, or an empty string. */
export function headerOf(head: string, name: string): string {
  const at = head.toLowerCase().indexOf(`\r\n${name}:`);
  if (at < 0) return '';
  const from = at + name.length + 3;
  const end = head.indexOf('\r\n', from);
  return head.slice(from, end < 0 ? undefined : end).trim();
}
