import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { sql } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { installation } from '#db/schema/index.ts';
import { dropKeyedDigests } from '#server/auth/drop-keyed-digests.ts';
import { resealTotp } from '#server/auth/factors/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import {
  type KeptHead,
  keepResealedHead,
  readKeptHead,
  recordAudit,
  resealActivity,
  verifyActivity,
} from '#server/domain/audit/index.ts';
import { resealSecrets } from '#server/domain/goal-states/index.ts';
import { resealRollouts } from '#server/domain/rollouts/index.ts';
import { resealRelations, resealServiceSettings } from '#server/domain/services/index.ts';
import { resealTenantKeys } from '#server/domain/stock-agents/index.ts';
import { resealRolePasswords } from '#server/domain/topology/index.ts';
import type { Config } from '#server/platform/env.ts';
import type { Keys } from '#server/platform/keys.ts';
import { installationLock, setKeyCheck } from '#server/process/installation.ts';

export interface KeyChange {
  db: Database;
  config: Pick<Config, 'dataDir'>;
  from: Keys;
  to: Keys;
  now: Date;
}

/**
 * Encrypts everything with the new keys in one transaction, and then rewrites the head of the activity log in DATA_DIR.
 * If an earlier run was interrupted between these two steps, runs only the second step. Returns a line to print.
 * Throws, without changing anything, if Annex is running, the key is wrong, or the activity log does not verify.
 */
export async function changeSecretKey(change: KeyChange): Promise<string> {
  const { db, config, from, to, now } = change;
  const [known] = await db.select({ keyCheck: installation.keyCheck }).from(installation);
  if (known?.keyCheck === to.check) {
    await finishHead(change);
    return 'Everything was already sealed under the new key. The change is complete.';
  }
  if (known?.keyCheck !== from.check) throw new Error('The current key does not belong to this database.');
  const kept = await readKeptHead({ keys: from, config });
  const { faults } = await verifyActivity({ db, keys: from }, kept);
  if (faults.length > 0) {
    throw new Error(
      `The activity log has errors (${faults.length}), which a new key would hide. Run npm run verify-activity, then npm run accept-activity.`,
    );
  }
  const counts = await db.transaction(async (tx) => {
    await requireStopped(tx);
    return reseal(tx, change);
  });
  await keepResealedHead({ db, keys: to, config }, now);
  const { secrets, tenantKeys, apps, acts, earlierHead } = counts;
  return `Sealed again: ${secrets} protected settings, ${tenantKeys} tenant keys, ${apps} authenticator apps, ${acts} activity entries. The activity log ended at ${earlierHead} under the earlier key.`;
}

async function reseal(tx: Transaction, { from, to, now }: KeyChange) {
  const ofVms = (await resealSecrets(tx, from, to)) + (await resealRollouts(tx, from, to));
  const ofServices = (await resealServiceSettings(tx, from, to)) + (await resealRelations(tx, from, to));
  const secrets = ofVms + ofServices;
  const tenantKeys = await resealTenantKeys(tx, from, to);
  const rolePasswords = await resealRolePasswords(tx, from, to);
  const apps = await resealTotp(tx, from, to);
  await dropKeyedDigests(tx);
  const { acts, earlierHead } = await resealActivity(tx, to, now);
  await setKeyCheck(tx, to.check);
  const origin = { door: 'cli' as const, address: null, client: null };
  const call = { keys: to, actor: systemActor, origin, now, requestId: randomUUID() };
  const person = userInfo().username;
  await recordAudit(tx, call, {
    action: 'secret-key.change',
    target: { kind: 'activity', id: 'activity' },
    details: { secrets, tenantKeys, rolePasswords, apps, acts, earlierHead, person },
  });
  return { secrets, tenantKeys, apps, acts, earlierHead };
}

/**
 * Throws if Annex is running. Takes the installation lock until the commit: a portal that starts during the change
 * waits for the lock, and then finds that its key no longer matches.
 */
async function requireStopped(tx: Transaction): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${installationLock})`);
  const { rows } = await tx.execute<{ name: string }>(sql`
    select distinct application_name as name from pg_stat_activity
     where datname = current_database() and application_name ~ '^annex-(portal|gateway|worker)'`);
  if (rows.length === 0) return;
  throw new Error(`Annex is running with this database (${rows.map(({ name }) => name).join(', ')}). Stop it first.`);
}

/**
 * Rewrites the head of the activity log in DATA_DIR. The head may still be sealed with the earlier key. Throws if
 * neither key opens it, because then this portal did not write it.
 */
async function finishHead({ db, config, from, to, now }: KeyChange): Promise<void> {
  const isRead = (keys: Keys): Promise<KeptHead | null | false> => readKeptHead({ keys, config }).catch(() => false);
  if (await isRead(to)) return;
  if ((await isRead(from)) === false)
    throw new Error('The head of the activity log in DATA_DIR was not written by this portal.');
  await keepResealedHead({ db, keys: to, config }, now);
}
