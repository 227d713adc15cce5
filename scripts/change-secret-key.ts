import { join } from 'node:path';
import { openDatabase } from '#db/client.ts';
import { changeSecretKey } from '#server/launcher/change-secret-key.ts';
import { keepDatabase } from '#server/launcher/database.ts';
import { LockedError, takeLock } from '#server/launcher/lock.ts';
import { loadConfig } from '#server/platform/env.ts';
import { deriveKeys } from '#server/platform/keys.ts';
import { existingKey, nextKey, takeNextKey } from '#server/platform/secret-key.ts';
import { openPool } from '#server/process/services.ts';
import { readFlags } from './read-flags.ts';

const usage = `Changes the secret key: everything that the portal has sealed is sealed again under the new key.

  npm run change-secret-key

Stop Annex first. If ANNEX_SECRET_KEY is set, also set ANNEX_NEW_SECRET_KEY to the new key (32 characters or more), and
afterwards start Annex with the new key as ANNEX_SECRET_KEY. Otherwise the command creates a new secret.key in DATA_DIR.

If the command is interrupted, either nothing has changed, or running it again completes the change.
Afterwards, everyone must sign in again and create new recovery codes.`;

async function main(): Promise<void> {
  readFlags(usage, { options: {} });
  const config = loadConfig();
  const unlock = await takeLock(join(config.dataDir, 'launcher.lock')).catch((error: unknown) => {
    throw error instanceof LockedError ? new Error('Annex is running with this DATA_DIR. Stop it first.') : error;
  });
  const database = config.databaseUrl === null ? await keepDatabase(config.dataDir, console.log) : null;
  const pool = openPool(database?.url ?? config.databaseUrl ?? '', 'launcher');
  try {
    const from = deriveKeys(await existingKey(config));
    const isFile = config.secretKey === null;
    const to = deriveKeys(isFile ? await nextKey(config.dataDir) : newKey());
    if (from.check === to.check) throw new Error('The new key is the same as the current one.');
    const done = await changeSecretKey({ db: openDatabase(pool), config, from, to, now: new Date() });
    if (isFile) await takeNextKey(config.dataDir);
    console.log(done);
    console.log(
      isFile
        ? `The new key is in ${join(config.dataDir, 'secret.key')}. Back it up, apart from the database.`
        : 'Start Annex with the new key as ANNEX_SECRET_KEY.',
    );
  } finally {
    await pool.end();
    await database?.stop();
    await unlock();
  }
}

function newKey(): Buffer {
  const key = process.env.ANNEX_NEW_SECRET_KEY ?? '';
  if (key.length < 32) throw new Error('ANNEX_NEW_SECRET_KEY must have 32 characters or more.');
  return Buffer.from(key);
}

main().catch((error: unknown) => {
  console.error(`Not changed: ${error instanceof Error ? error.message : 'unknown error'}`);
  process.exitCode = 1;
});
