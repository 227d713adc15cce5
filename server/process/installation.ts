import { randomBytes, timingSafeEqual } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { installation } from '#db/schema/installation.ts';
import { ConfigError } from '#server/platform/env.ts';

/** Key of the advisory lock under which processes open a database one at a time. The number is arbitrary. */
export const installationLock = 4_266_399_002;

/**
 * Identifies the database, or initializes a new one. Throws a ConfigError if the secret key does not match the
 * database. A restored or copied database gets a new epoch, so that no earlier ETag equals a current one.
 */
export async function openInstallation(
  db: Database,
  keyCheck: string,
): Promise<{ epoch: string; was: 'new' | 'known' | 'restored' }> {
  return db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${installationLock})`);
    const fingerprint = await databaseFingerprint(tx);
    const [row] = await tx.select().from(installation).where(eq(installation.id, 1));
    if (row === undefined) {
      const epoch = newEpoch();
      await tx.insert(installation).values({ id: 1, epoch, fingerprint, keyCheck });
      return { epoch, was: 'new' };
    }
    if (!sameText(row.keyCheck, keyCheck)) {
      throw new ConfigError(
        'Annex cannot start: this database was used with another ANNEX_SECRET_KEY, and its secrets can be decrypted ' +
          'only with that key. Set ANNEX_SECRET_KEY to it, or restore the earlier secret.key in DATA_DIR. If ' +
          'npm run change-secret-key was interrupted, run it again.',
      );
    }
    if (row.fingerprint === fingerprint) return { epoch: row.epoch, was: 'known' };
    const epoch = newEpoch();
    await tx.update(installation).set({ epoch, fingerprint }).where(eq(installation.id, 1));
    return { epoch, was: 'restored' };
  });
}

/** Stores the check value of a new secret key. */
export async function setKeyCheck(tx: Transaction, keyCheck: string): Promise<void> {
  await tx.update(installation).set({ keyCheck }).where(eq(installation.id, 1));
}

const newEpoch = (): string => randomBytes(6).toString('hex');

function sameText(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

/**
 * Returns a string that identifies the database and its timeline. It changes when a dump is restored, a replica is
 * promoted, or the database is recovered to a point in time.
 */
async function databaseFingerprint(tx: Transaction): Promise<string> {
  const {
    rows: [database],
  } = await tx.execute<{ oid: string }>(sql`select oid::text from pg_database where datname = current_database()`);
  const parts = [await controlOf(tx, 'system'), await controlOf(tx, 'timeline'), database?.oid ?? ''];
  return parts.join('/');
}

/**
 * Returns the system identifier or the timeline of the server; `-` if a hosted PostgreSQL hides it. The fingerprint
 * then relies on its other parts.
 */
async function controlOf(tx: Transaction, part: 'system' | 'timeline'): Promise<string> {
  const query =
    part === 'system'
      ? sql`select system_identifier::text as value from pg_control_system()`
      : // The WAL shows a promotion immediately, the control file only after the next checkpoint.
        sql`select ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int::text as value`;
  try {
    return await tx.transaction(async (inner) => (await inner.execute<{ value: string }>(query)).rows[0]?.value ?? '');
  } catch (error) {
    if (isPermissionDenied(error)) return '-';
    throw error;
  }
}

function isPermissionDenied(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (error as { code?: unknown }).code === '42501' || isPermissionDenied(error.cause);
}
