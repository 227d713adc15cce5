import type { Logger } from 'pino';
import type { Database } from '#db/client.ts';
import type { Door } from '#db/schema/index.ts';
import type { Actor } from '#server/domain/actor.ts';
import type { FleetFields } from '#server/domain/fleet-field.ts';
import type { BlobStore } from '#server/platform/blob-store.ts';
import type { Config } from '#server/platform/env.ts';
import type { Keys } from '#server/platform/keys.ts';
import type { ProcessMemory } from '#server/platform/process-memory.ts';
import type { Wakes } from '#server/platform/wakes/index.ts';

/** Services that a process creates once and every verb may use. */
export interface Services {
  db: Database;
  config: Config;
  keys: Keys;
  blobs: BlobStore;
  /** Wakes this process when other processes commit changes. */
  wakes: Wakes;
  /** Values that this process keeps in memory between calls. */
  memory: ProcessMemory;
  /**
   * The fields by which lists of VMs can be filtered: first the fields of the module `fleet`, then the fields of other
   * modules, if any.
   */
  fleetFields: FleetFields;
  /** Part of the ETag of every goal state; changes when the database is restored. */
  epoch: string;
}

/** Where a call comes from, as the activity log shows it. */
export interface Origin {
  door: Door;
  /** The caller's IP address, as far as the process can trust it; null for calls without an address. */
  address: string | null;
  /** `User-Agent` as received, not validated. */
  client: string | null;
}

/** The context of every verb: the caller, the time by the portal's clock, and the services. */
export interface Context extends Services {
  actor: Actor;
  origin: Origin;
  now: Date;
  requestId: string;
  log: Logger;
}

/** The origin of actions by the portal itself. */
export const systemOrigin: Origin = { door: 'system', address: null, client: null };
