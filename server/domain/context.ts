import type { Logger } from 'pino';
import type { Database } from '#db/client.ts';
import type { Actor } from '#server/domain/actor.ts';
import type { BlobStore } from '#server/platform/blob-store.ts';
import type { Config } from '#server/platform/env.ts';
import type { Keys } from '#server/platform/keys.ts';

/** What a process holds for its whole life and every verb may use. */
export interface Services {
  db: Database;
  config: Config;
  keys: Keys;
  blobs: BlobStore;
  /** Part of every ETag: one life of the database. */
  epoch: string;
}

/** What every verb gets: who asks, when (the portal's clock), and what it may use. */
export interface Context extends Services {
  actor: Actor;
  now: Date;
  requestId: string;
  log: Logger;
}
