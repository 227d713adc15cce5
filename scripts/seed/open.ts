import { join } from 'node:path';
import { migrate } from '#db/migrate.ts';
import { loadConfig } from '#server/platform/env.ts';
import { runningPostgres, startPostgres } from '#server/platform/postgres.ts';
import { type OpenServices, openPool, openServices } from '#server/process/services.ts';

/**
 * Opens and migrates the local portal's database: `DATABASE_URL`, or the embedded database in `DATA_DIR`. Starts the
 * embedded database if it is not running.
 */
export async function openHere(): Promise<{ services: OpenServices; close(): Promise<void> }> {
  const config = loadConfig();
  const folder = join(config.dataDir, 'postgres');
  const known = config.databaseUrl ?? (await runningPostgres(folder));
  const own = known === null ? await startPostgres({ dataDir: folder }) : null;
  const databaseUrl = known ?? own?.url ?? '';
  const pool = openPool(databaseUrl, 'launcher');
  await migrate(pool);
  await pool.end();
  const services = await openServices({ ...config, databaseUrl, logLevel: 'error' }, 'launcher');
  return {
    services,
    async close() {
      await services.close();
      await own?.stop();
    },
  };
}
