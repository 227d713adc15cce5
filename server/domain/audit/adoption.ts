import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Services } from '#server/domain/context.ts';
import { keyedDigest } from '#server/platform/keys.ts';

/** The file in DATA_DIR that records whether rows of the first release may still be adopted. */
export const adoptionFile = 'activity-begun.json';

/** Number of migrations in the last release that linked entries after their commit, not in the same transaction. */
const migrationsBeforeChain = 18;

type Home = Pick<Services, 'keys'> & { config: Pick<Services['config'], 'dataDir'> };

const pending = (keys: Services['keys']): string =>
  JSON.stringify({ state: 'adopting', digest: keyedDigest(keys.audit, 'adoption').toString('base64url') });
const begun = JSON.stringify({ state: 'begun' });

/**
 * Records that a database of the first release is being upgraded. This cannot be detected once the migrations have run.
 * Does nothing if the log of this data folder has already begun: in that case, the database has been restored from a
 * backup, so its rows are not adopted.
 */
export async function noteUpgrade({ keys, config }: Home, migrationsApplied: number): Promise<void> {
  if (migrationsApplied === 0 || migrationsApplied > migrationsBeforeChain) return;
  if ((await readState(config.dataDir)) === null) await writeState(config.dataDir, pending(keys));
}

/**
 * Returns `adopting` if rows of the first release may be adopted, `begun` if the log of this data folder has already
 * begun, and `unknown` if nothing was recorded.
 */
export async function readAdoption({ keys, config }: Home): Promise<'adopting' | 'begun' | 'unknown'> {
  const state = await readState(config.dataDir);
  if (state === null) return 'unknown';
  return state === pending(keys) ? 'adopting' : 'begun';
}

/** Ends the adoption: from now on, no rows are adopted in this data folder. */
export async function endAdoption({ config }: Pick<Home, 'config'>): Promise<void> {
  if ((await readState(config.dataDir)) !== begun) await writeState(config.dataDir, begun);
}

async function readState(dataDir: string): Promise<string | null> {
  try {
    return (await readFile(join(dataDir, adoptionFile), 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function writeState(dataDir: string, state: string): Promise<void> {
  const path = join(dataDir, adoptionFile);
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(`${state}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}
