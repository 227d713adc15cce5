import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import type { Database } from '#db/client.ts';
import type { Role } from '#db/schema/auth.ts';
import { testDatabase } from '#db/testing/database.ts';
import { type Actor, anonymous } from '#server/domain/actor.ts';
import type { Context, Services } from '#server/domain/context.ts';
import type { FleetFields } from '#server/domain/fleet-field.ts';
import { allFleetFields } from '#server/domain/views/fleet-fields.ts';
import { openBlobStore } from '#server/platform/blob-store.ts';
import { type Config, loadConfig } from '#server/platform/env.ts';
import { deriveKeys } from '#server/platform/keys.ts';
import { ProcessMemory } from '#server/platform/process-memory.ts';
import { postgresWakes, type Wakes } from '#server/platform/wakes/index.ts';

export interface TestServicesOptions {
  /** The test's database; by default, a new one. */
  db?: Database;
  config?: Partial<Config>;
  /** Filter fields; by default, all of them. */
  fleetFields?: FleetFields;
}

export interface TestContextOptions extends TestServicesOptions {
  /** Role of the calling user; null means anonymous. Default `admin`. */
  role?: Role | null;
  namespaces?: readonly string[];
  /** Whether the caller has the grant `scripts`. */
  scripts?: boolean;
  /** The complete actor; replaces `role`, `namespaces` and `scripts`. */
  actor?: Actor;
  now?: Date;
  /** Services to share with other contexts. */
  services?: Services;
}

/**
 * Creates the services of a process. By default, they have a new database, a new data folder, new keys and the default
 * limits.
 */
export async function testServices(options: TestServicesOptions = {}): Promise<Services> {
  const dataDir = await mkdtemp(join(tmpdir(), 'annex-test-data-'));
  const config = { ...loadConfig({ DATA_DIR: dataDir }), ...options.config };
  const db = options.db ?? (await testDatabase());
  return {
    db,
    config,
    keys: deriveKeys(randomBytes(32)),
    blobs: openBlobStore(join(config.dataDir, 'blobs')),
    wakes: testWakes(db),
    memory: new ProcessMemory(),
    fleetFields: options.fleetFields ?? allFleetFields,
    epoch: 'test',
  };
}

/** Opens wake-ups over this database's NOTIFY. */
export function testWakes({ $client }: Database): Wakes {
  const { connectionString = '' } = $client.options;
  return postgresWakes({ databaseUrl: connectionString, name: 'annex-test-wakes', log: pino({ level: 'silent' }) });
}

/** Returns a context like the one that an entry point creates for a call. */
export async function testContext(options: TestContextOptions = {}): Promise<Context> {
  return {
    ...(options.services ?? (await testServices(options))),
    actor:
      options.actor ??
      testActor(options.role === undefined ? 'admin' : options.role, options.namespaces, options.scripts),
    origin: { door: 'page', address: '192.0.2.1', client: null },
    now: options.now ?? new Date(),
    requestId: randomUUID(),
    log: pino({ level: 'silent' }),
  };
}

/** The bootstrap token, an admin that can create tokens and invitations without a session. */
export const testBootstrap: Actor = { kind: 'bootstrap', id: 'bootstrap', name: 'Test', role: 'admin', namespaces: [] };

/** Returns a user with this role who is not in the database; anonymous for `null`. */
export function testActor(role: Role | null, namespaces: readonly string[] = [], scripts = false): Actor {
  if (role === null) return anonymous;
  return { kind: 'user', id: `test-${role}`, name: `Test ${role}`, role, namespaces, scripts };
}
