import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { changesChannel } from '#server/domain/changes/index.ts';

export interface ListenerOptions {
  /** Options of the connection, as the pool has them. */
  connection: pg.ClientConfig;
  log: Logger;
  onPayload(payload: string): void;
  /** The connection is there, for the first time or again: what was told meanwhile is lost. */
  onListening(): void;
}

/** Milliseconds between questions that show whether the connection is alive, and how long an answer may take. */
const checkEvery = 5_000;
const answerWithin = 3_000;

/** Holds one connection that listens, and makes a new one whenever it is lost. `stop` ends it for good. */
export function startListener(options: ListenerOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const running = keepListening(options, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function keepListening(options: ListenerOptions, stopping: AbortSignal): Promise<void> {
  for (let failures = 0; !stopping.aborted; ) {
    try {
      await listen(options, stopping, () => {
        failures = 0;
      });
    } catch (error) {
      failures += 1;
      if (failures === 1) options.log.warn({ err: error }, 'changes are not heard; trying again');
    }
    await delay(Math.min(100 * 2 ** failures, 2_000), undefined, { signal: stopping }).catch(() => {});
  }
}

/** One connection's life; ends when it is lost or stopped. */
async function listen(options: ListenerOptions, stopping: AbortSignal, alive: () => void): Promise<void> {
  const client = new pg.Client({
    ...options.connection,
    application_name: 'annex-live',
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
    query_timeout: answerWithin,
  });
  const lost = new AbortController();
  client.on('error', () => lost.abort());
  client.on('end', () => lost.abort());
  client.on('notification', ({ payload }) => {
    if (payload !== undefined) options.onPayload(payload);
  });
  try {
    await client.connect();
    await client.query(`listen ${changesChannel}`);
    alive();
    options.onListening();
    const either = AbortSignal.any([stopping, lost.signal]);
    while (!either.aborted) {
      await delay(checkEvery, undefined, { signal: either }).catch(() => {});
      if (!either.aborted) await client.query('select 1');
    }
  } finally {
    // A connection that is half gone would let `end` wait for ever.
    await Promise.race([client.end().catch(() => {}), delay(500, undefined, { ref: false })]);
  }
}
