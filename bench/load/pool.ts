import { Connection, type HttpReply } from './connection.ts';

interface Waiting {
  request: string;
  done(reply: HttpReply): void;
}

/** A limited number of keep-alive connections that all agents share. Calls wait in order for a free connection. */
export class ConnectionPool {
  readonly #free: Connection[];
  readonly #all: readonly Connection[];
  #queue: Waiting[] = [];
  #served = 0;

  constructor(host: string, port: number, size: number) {
    this.#all = Array.from({ length: size }, () => new Connection(host, port));
    this.#free = [...this.#all];
  }

  /** Number of requests that are waiting for a connection. */
  get waiting(): number {
    return this.#queue.length - this.#served;
  }

  /** Number of requests that were sent and have no response yet. */
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
