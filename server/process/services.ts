import { join } from 'node:path';
import pg from 'pg';
import type { Logger } from 'pino';
import { type Database, openDatabase } from '#db/client.ts';
import type { Services } from '#server/domain/context.ts';
import { allFleetFields } from '#server/domain/views/fleet-fields.ts';
import { openBlobStore } from '#server/platform/blob-store.ts';
import { type Primary, toPrimary } from '#server/platform/database/index.ts';
import { type Config, ConfigError } from '#server/platform/env.ts';
import { deriveKeys, type Keys, sha256Hex } from '#server/platform/keys.ts';
import { createLogger } from '#server/platform/logger.ts';
import { ProcessMemory } from '#server/platform/process-memory.ts';
import { secretKey } from '#server/platform/secret-key.ts';
import { type Listening, natsWakes, postgresWakes, tellAfterCommit, type Wakes } from '#server/platform/wakes/index.ts';
import { openInstallation } from './installation.ts';

/** The processes that share one database. */
export type Room = 'launcher' | 'portal' | 'gateway' | 'worker' | 'conductor' | 'fabric';

/**
 * Maximum number of database connections in a process's pool. Each process has one more for listening; processes with
 * the agent API have four more for batches of reports, and the worker has one more per job. The gateways of an
 * installation share 32 connections, with 6 to 20 each. With up to three gateways, the total stays below PostgreSQL's
 * default limit of 100.
 */
const connections = (room: Room, gatewayWorkers: number): number =>
  ({
    ...{ launcher: 2, portal: 20, gateway: Math.max(6, Math.min(20, Math.floor(32 / gatewayWorkers))) },
    ...{ worker: 3, conductor: 3, fabric: 2 },
  })[room];

/** The services that every process opens at startup. */
export interface OpenServices extends Services {
  log: Logger;
  /** Closes the pool after the running statements have finished. */
  close(): Promise<void>;
}

/**
 * Opens the pool, the keys and the blob store, and checks that the secret key matches the database. The launcher must
 * have migrated the database. `onOtherLife` is called if a replica was promoted in place of this database. From then
 * on, what was read at startup may be wrong, and no further connections are opened.
 */
export async function openServices(config: Config, room: Room, onOtherLife?: () => void): Promise<OpenServices> {
  if (config.databaseUrl === null)
    throw new ConfigError('DATABASE_URL must be set: only `npm start` starts a database of its own.');
  const log = createLogger(room, config.logLevel);
  const primary = toPrimary(config.databaseUrl, onOtherLife && { onOtherLife });
  const pool = openPool(primary, room, config.gatewayWorkers);
  pool.on('error', (error) => log.warn({ err: error }, 'a database connection was lost'));
  try {
    const db = openDatabase(pool);
    const keys = deriveKeys(await secretKey(config));
    const { epoch, was } = await openInstallation(db, keys.check);
    if (was === 'restored') log.warn({ epoch }, 'this database was restored: goal states continue in a new epoch');
    const wakes = openWakes(config, config.databaseUrl, room, db, keys, log);
    const held = onOtherLife || config.natsUrl !== null ? holdWakes(wakes, primary) : null;
    return {
      db,
      config,
      keys,
      blobs: openBlobStore(join(config.dataDir, 'blobs')),
      wakes,
      memory: new ProcessMemory(),
      fleetFields: allFleetFields,
      epoch,
      log,
      close: async () => {
        await held?.close();
        await pool.end();
      },
    };
  } catch (error) {
    await pool.end();
    throw error;
  }
}

/** Opens wake-ups over NATS if it is configured, otherwise over NOTIFY. */
function openWakes(config: Config, databaseUrl: string, room: Room, db: Database, keys: Keys, log: Logger): Wakes {
  const name = `annex-${room}-wakes`;
  if (config.natsUrl === null) return postgresWakes({ databaseUrl, name, log });
  const installation = sha256Hex(keys.check).slice(0, 16);
  const { wakes, publish } = natsWakes({ url: config.natsUrl, installation, name, log });
  tellAfterCommit(db, publish);
  return wakes;
}

/**
 * Keeps a wake-up connection open, because a lost connection may mean that another host is now the primary. This
 * connection notices a lost host within seconds, while a statement would wait for its timeout.
 */
function holdWakes(wakes: Wakes, primary: Primary): Listening {
  let wasLost = false;
  const check = (): void => void primary.check().catch(() => {});
  return wakes.listen([], {
    heard() {},
    lost() {
      wasLost = true;
      check();
    },
    back() {
      if (wasLost) check();
      wasLost = false;
    },
  });
}

/**
 * Creates a pool with statement timeouts (except in the launcher, which migrates), so that no request waits forever for
 * a lock or on a half-open connection.
 */
export function openPool(database: string | Primary, room: Room, gatewayWorkers = 1): pg.Pool {
  const { connectionString, Client } = typeof database === 'string' ? toPrimary(database) : database;
  return new pg.Pool({
    connectionString,
    Client,
    application_name: `annex-${room}`,
    max: connections(room, gatewayWorkers),
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    statement_timeout: room === 'launcher' ? 0 : 15_000,
    query_timeout: room === 'launcher' ? 0 : 20_000,
    idle_in_transaction_session_timeout: 30_000,
  });
}
