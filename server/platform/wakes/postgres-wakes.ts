import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import type { Listener, Listening, Wakes } from './wakes.ts';

export interface PostgresWakesOptions {
  connectionString: string | undefined;
  /** Under which name the connection is seen in `pg_stat_activity`. */
  name: string;
  log: Logger;
}

/** Milliseconds between questions that show whether the connection is alive, and how long an answer may take. */
const checkEvery = 5_000;
const answerWithin = 3_000;

interface Seat {
  channels: ReadonlySet<string>;
  listener: Listener;
  /** Whether it was told that it hears. */
  hears: boolean;
}

/** Wakes by LISTEN: one connection for all listeners of a process, made again whenever it is lost. */
export class PostgresWakes implements Wakes {
  readonly #options: PostgresWakesOptions;
  readonly #seats = new Set<Seat>();
  #client: pg.Client | undefined;
  #life: { stopping: AbortController; ended: Promise<void> } | undefined;

  constructor(options: PostgresWakesOptions) {
    this.#options = options;
  }

  listen(channels: readonly string[], listener: Listener): Listening {
    const seat: Seat = { channels: new Set(channels), listener, hears: false };
    this.#seats.add(seat);
    if (this.#life === undefined) {
      const stopping = new AbortController();
      this.#life = { stopping, ended: this.#keepConnected(stopping.signal) };
    } else if (this.#client !== undefined) {
      const client = this.#client;
      // A connection that breaks here is given up by its own loop, which begins anew with all seats.
      void this.#seat(client, [seat]).catch(() => {});
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
        if (failures === 1) this.#options.log.warn({ err: error }, 'changes are not heard; trying again');
      }
      await delay(Math.min(100 * 2 ** failures, 2_000), undefined, { signal: stopping }).catch(() => {});
    }
  }

  /** One connection's life; ends when it is lost or stopped. */
  async #connection(stopping: AbortSignal, alive: () => void): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#options.connectionString,
      application_name: this.#options.name,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      query_timeout: answerWithin,
    });
    const lost = new AbortController();
    const either = AbortSignal.any([stopping, lost.signal]);
    either.addEventListener('abort', () => this.#unseat(client), { once: true });
    client.on('error', () => lost.abort());
    client.on('end', () => lost.abort());
    client.on('notification', ({ channel, payload }) => this.#hear(channel, payload ?? ''));
    try {
      await client.connect();
      if (either.aborted) return;
      this.#client = client;
      await this.#seat(client, [...this.#seats]);
      alive();
      while (!either.aborted) {
        await delay(checkEvery, undefined, { signal: either }).catch(() => {});
        if (!either.aborted) await client.query('select 1');
      }
    } finally {
      this.#unseat(client);
      // A connection that is half gone would let `end` wait for ever.
      await Promise.race([client.end().catch(() => {}), delay(500, undefined, { ref: false })]);
    }
  }

  async #seat(client: pg.Client, seats: readonly Seat[]): Promise<void> {
    const channels = new Set(seats.flatMap((seat) => [...seat.channels]));
    await client.query([...channels].map((channel) => `listen ${client.escapeIdentifier(channel)}`).join('; '));
    for (const seat of seats) {
      if (this.#client !== client || !this.#seats.has(seat) || seat.hears) continue;
      seat.hears = true;
      seat.listener.back();
    }
  }

  #unseat(client: pg.Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
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
