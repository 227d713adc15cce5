import { Connection, type HttpReply } from './connection.ts';

interface Waiting {
  request: string;
  done(reply: HttpReply): void;
}

/**
 * A bounded number of keep-alive connections that all agents share in turn. Calls without a free connection wait in
 * order.
 */
export class ConnectionPool {
  readonly #free: Connection[];
  readonly #all: readonly Connection[];
  #queue: Waiting[] = [];
  #served = 0;

  constructor(host: string, port: number, size: number) {
    this.#all = Array.from({ length: size }, () => new Connection(host, port));
    this.#free = [...this.#all];
  }

  /** Requests waiting for a connection. */
  get waiting(): number {
    return this.#queue.length - this.#served;
  }

  /** Sent requests without a response. */
  get underWay(): number {
    return this.#all.length - this.#free.length;
  }

  send(request: string, done: (reply: HttpReply) => void): void {
    const connection = this.#free.shift();
    if (connection === undefined) this.#queue.push({ request, done });
    else this.#send(connection, request, done);
  }

  close(): void {
    for (const connection of this.#all) connection.close();
  }

  #send(connection: Connection, request: string, done: (reply: HttpReply) => void): void {
    connection.send(request, (reply) => {
      const next = this.#queue[this.#served];
      if (next === undefined) {
        this.#free.push(connection);
      } else {
        this.#served += 1;
        if (this.#served === this.#queue.length) {
          this.#queue = [];
          this.#served = 0;
        }
        this.#send(connection, next.request, next.done);
      }
      done(reply);
    });
  }
}
