import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Listener, Listening, Wakes } from './wakes.ts';

/** A connection to the wake-up transport. */
export interface WakeConnection {
  /** Subscribes to channels. Resolves once the subscription is active. */
  listen(channels: readonly string[]): Promise<void>;
  /** Resolves or rejects when the connection is lost. */
  ended: Promise<unknown>;
  close(): Promise<void>;
}

/** Opens a connection, which passes the messages of all its channels to `hear`. */
export type Connect = (hear: (channel: string, payload: string) => void) => Promise<WakeConnection>;

interface Seat {
  channels: ReadonlySet<string>;
  listener: Listener;
  /** Whether the listener has been notified that the connection works. */
  hears: boolean;
}

/** Shares one connection among all listeners of a process, and reopens it whenever it is lost. */
export class KeptWakes implements Wakes {
  readonly #connect: Connect;
  readonly #log: Logger;
  readonly #seats = new Set<Seat>();
  #link: WakeConnection | undefined;
  #life: { stopping: AbortController; ended: Promise<void> } | undefined;

  constructor(connect: Connect, log: Logger) {
    this.#connect = connect;
    this.#log = log;
  }

  listen(channels: readonly string[], listener: Listener): Listening {
    const seat: Seat = { channels: new Set(channels), listener, hears: false };
    this.#seats.add(seat);
    if (this.#life === undefined) {
      const stopping = new AbortController();
      this.#life = { stopping, ended: this.#keepConnected(stopping.signal) };
    } else if (this.#link !== undefined) {
      // If the new channels cannot be added, closes the connection, so that the loop opens a new connection with all
      // channels.
      const link = this.#link;
      this.#seat(link, [seat]).catch(() => link.close().catch(() => {}));
    }
    return {
      close: async () => {
        this.#seats.delete(seat);
        if (this.#seats.size > 0 || this.#life === undefined) return;
        const { stopping, ended } = this.#life;
        this.#life = undefined;
        stopping.abort();
        await ended;
      },
    };
  }

  async #keepConnected(stopping: AbortSignal): Promise<void> {
    for (let failures = 0; !stopping.aborted; ) {
      try {
        await this.#connection(stopping, () => {
          failures = 0;
        });
      } catch (error) {
        failures += 1;
        if (failures === 1) this.#log.warn({ err: error }, 'changes are not received; retrying');
      }
      await delay(Math.min(100 * 2 ** failures, 2_000), undefined, { signal: stopping }).catch(() => {});
    }
  }

  /** Runs one connection until it is lost or stopped. */
  async #connection(stopping: AbortSignal, alive: () => void): Promise<void> {
    const link = await this.#connect((channel, payload) => this.#hear(channel, payload));
    const stopped = Promise.withResolvers<void>();
    stopping.addEventListener('abort', () => stopped.resolve(), { once: true });
    const ended = Promise.race([link.ended, stopped.promise]).finally(() => this.#unseat(link));
    ended.catch(() => {});
    try {
      if (stopping.aborted) return;
      this.#link = link;
      await Promise.race([this.#seat(link, [...this.#seats]).then(alive), ended]);
      await ended;
    } finally {
      this.#unseat(link);
      await link.close();
    }
  }

  async #seat(link: WakeConnection, seats: readonly Seat[]): Promise<void> {
    await link.listen([...new Set(seats.flatMap((seat) => [...seat.channels]))]);
    for (const seat of seats) {
      if (this.#link !== link || !this.#seats.has(seat) || seat.hears) continue;
      seat.hears = true;
      seat.listener.back();
    }
  }

  #unseat(link: WakeConnection): void {
    if (this.#link !== link) return;
    this.#link = undefined;
    for (const seat of [...this.#seats]) {
      if (!seat.hears) continue;
      seat.hears = false;
      seat.listener.lost();
    }
  }

  #hear(channel: string, payload: string): void {
    for (const seat of [...this.#seats]) if (seat.channels.has(channel)) seat.listener.heard(channel, payload);
  }
}
