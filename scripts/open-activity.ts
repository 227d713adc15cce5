import { join } from 'node:path';
import { type Database, openDatabase } from '#db/client.ts';
import { type ChainFault, installation } from '#db/schema/index.ts';
import { type Config, loadConfig } from '#server/platform/env.ts';
import { deriveKeys, type Keys } from '#server/platform/keys.ts';
import { runningPostgres } from '#server/platform/postgres.ts';
import { existingKey } from '#server/platform/secret-key.ts';
import { openPool } from '#server/process/services.ts';

const meaning: Readonly<Record<ChainFault['kind'], string>> = {
  deleted: 'the next entry was deleted',
  altered: 'the entry was altered',
  inserted: 'the entry was not written by the portal',
  replayed: 'the entry is a copy of another entry',
  truncated: 'all entries from this number onward were deleted',
  relinked: 'the entry was moved to another position',
};

/** Formats a fault as a line of text. */
export function describeFault({ kind, id, position }: ChainFault): string {
  const place = position === null ? 'without a number' : `number ${position}`;
  return id === null
    ? `${kind}: number ${position ?? 0} is no longer in the chain.`
    : `${kind}: entry ${id} (${place}): ${meaning[kind]}.`;
}

/**
 * Opens the database, runs the command and closes the database. Throws if the secret key does not match the database.
 */
export async function withActivity<Result>(
  run: (services: { db: Database; keys: Keys; config: Config }) => Promise<Result>,
): Promise<Result> {
  const config = loadConfig();
  const url = config.databaseUrl ?? (await runningPostgres(join(config.dataDir, 'postgres')));
  if (url === null)
    throw new Error(`No embedded database is running in ${config.dataDir}. Start Annex, or set DATABASE_URL.`);
  const pool = openPool(url, 'launcher');
  try {
    const db = openDatabase(pool);
    const keys = deriveKeys(await existingKey(config));
    const [known] = await db.select({ keyCheck: installation.keyCheck }).from(installation);
    if (known?.keyCheck !== keys.check) throw new Error('The secret key does not belong to this database.');
    return await run({ db, keys, config });
  } finally {
    await pool.end();
  }
}
