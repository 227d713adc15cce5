import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { migrate } from '#db/migrate.ts';
import { startPostgres } from '#server/platform/postgres.ts';

/** Tells the workers of a run where the template is. */
const variable = 'ANNEX_JOURNEYS_DATABASE';

/** Journeys end processes but never the machine, so the database need not flush its writes to disk. */
const settings = { fsync: 'off', full_page_writes: 'off' };

/**
 * Creates a database with Annex's tables once for a run, because initdb and the migrations take as long as the rest of
 * a portal's startup. Deletes it after the run.
 */
export default async function setup(): Promise<() => void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'annex-e2e-template-'));
  const dataDir = path.join(folder, 'postgres');
  const server = await startPostgres({ dataDir, settings });
  const pool = new pg.Pool({ connectionString: server.url, max: 1 });
  // The server may stop before the pool's connection has ended.
  pool.on('error', () => {});
  await migrate(pool);
  await pool.end();
  await server.stop();
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
  appendFileSync(path.join(dataDir, 'data', 'postgresql.conf'), lines.join(''));
  process.env[variable] = dataDir;
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Copies the run's database, if there is one, into the data folder of a portal that starts for the first time. */
export function copyDatabase(dataFolder: string): void {
  const template = process.env[variable];
  if (template === undefined) return;
  // Keeps the owner, because PostgreSQL runs as another user if Annex runs as root.
  const { status, stderr } = spawnSync('cp', ['-a', template, path.join(dataFolder, 'postgres')], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The database could not be copied: ${stderr}`);
}
