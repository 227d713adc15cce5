import { join } from 'node:path';
import { type Database, openDatabase } from '#db/client.ts';
import { type ChainFault, installation } from '#db/schema/index.ts';
import { type Config, loadConfig } from '#server/platform/env.ts';
import { deriveKeys, type Keys } from '#server/platform/keys.ts';
import { runningPostgres } from '#server/platform/postgres.ts';
import { existingKey } from '#server/platform/secret-key.ts';
import { openPool } from '#server/process/services.ts';

const meaning: Readonly<Record<ChainFault['kind'], string>> = {
  deleted: 'the act behind it was deleted',
  altered: 'its content is not what the portal wrote',
  inserted: 'the portal did not write it',
  replayed: 'it is a copy of an act',
  truncated: 'the chain was longer: acts at its end were removed',
  relinked: 'it is not in the place where the portal wrote it',
};

/** Formats a fault as a line of text. */
export function describeFault({ kind, id, position }: ChainFault): string {
  const place = position === null ? 'without a number' : `number ${position}`;
  return id === null
    ? `${kind}: number ${position ?? 0} is not in the chain any more.`
    : `${kind}: act ${id} (${place}): ${meaning[kind]}.`;
}

/** Opens the database and the key, runs the command, and closes the database. */
export async function withActivity<Result>(
  run: (services: { db: Database; keys: Keys; config: Config }) => Promise<Result>,
): Promise<Result> {
  const config = loadConfig();
  const url = config.databaseUrl ?? (await runningPostgres(join(config.dataDir, 'postgres')));
  if (url === null)
    throw new Error(`no embedded database runs in ${config.dataDir}. Start Annex, or set DATABASE_URL.`);
  const pool = openPool(url, 'launcher');
  try {
    const db = openDatabase(pool);
    const keys = deriveKeys(await existingKey(config));
    const [known] = await db.select({ keyCheck: installation.keyCheck }).from(installation);
    if (known?.keyCheck !== keys.check) throw new Error('the secret key is not the one of this database.');
    return await run({ db, keys, config });
  } finally {
    await pool.end();
  }
}
