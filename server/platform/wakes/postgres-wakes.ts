import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { toPrimary } from '../database/index.ts';
import { KeptWakes, type WakeConnection } from './kept-wakes.ts';
import type { Wakes } from './wakes.ts';

export interface PostgresWakesOptions {
  databaseUrl: string;
  /** Name that `pg_stat_activity` shows for the connection. */
  name: string;
  log: Logger;
}

/** Interval and timeout of keep-alive checks, in milliseconds. */
const checkEvery = 5_000;
const answerWithin = 3_000;

/** Wake-ups over LISTEN and NOTIFY. */
export function postgresWakes({ databaseUrl, name, log }: PostgresWakesOptions): Wakes {
  const { connectionString, Client } = toPrimary(databaseUrl);
  return new KeptWakes(async (hear) => {
    const client = new Client({
      connectionString,
      application_name: name,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      query_timeout: answerWithin,
    });
    const lost = new AbortController();
    client.on('error', () => lost.abort());
    client.on('end', () => lost.abort());
    client.on('notification', ({ channel, payload }) => hear(channel, payload ?? ''));
    await client.connect();
    return linkOf(client, lost);
  }, log);
}

function linkOf(client: pg.Client, lost: AbortController): WakeConnection {
  let last: Promise<unknown> = Promise.resolve();
  /** A connection runs one query at a time, so each waits for the one before it. */
  const query = (text: string): Promise<unknown> => {
    const next = last.then(() => client.query(text));
    last = next.catch(() => {});
    return next;
  };
  const check = async (): Promise<void> => {
    while (!lost.signal.aborted) {
      await delay(checkEvery, undefined, { signal: lost.signal }).catch(() => {});
      if (!lost.signal.aborted) await query('select 1');
    }
  };
  return {
    async listen(channels) {
      await query(channels.map((channel) => `listen ${client.escapeIdentifier(channel)}`).join('; '));
    },
    ended: check(),
    async close() {
      lost.abort();
      // On a half-open connection, `end` would wait forever.
      await Promise.race([client.end().catch(() => {}), delay(500, undefined, { ref: false })]);
    },
  };
}
