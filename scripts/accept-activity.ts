import { userInfo } from 'node:os';
import { acceptActivity, type KeptHead, readKeptHead } from '#server/domain/audit/index.ts';
import { withJobLock } from '#server/worker/job-session.ts';
import { activityLock } from '#server/worker/jobs/follow-activity.ts';
import { describeFault, withActivity } from './open-activity.ts';
import { readFlags } from './read-flags.ts';

const usage = `Accepts the errors in the activity log, after you restored a backup of the database or found the cause of the errors.

  npm run accept-activity -- --reason "restored the backup of 1 May"

Run it on the worker's machine while Annex is running. It needs the secret key and DATA_DIR, so access to the database is
not enough. The activity log records the acceptance, with the reason and the errors.`;

async function main(): Promise<void> {
  const { reason = '' } = readFlags(usage, { options: { reason: { type: 'string' } } });
  if (reason.trim() === '' || reason.length > 300) throw new Error('--reason must say why, in 300 characters or less.');
  await withActivity(async (services) => {
    const faults = await withJobLock(services.db, activityLock, async () =>
      acceptActivity(services, await existingHead(services), { reason, person: userInfo().username, now: new Date() }),
    );
    if (faults.length === 0) return console.log('Nothing to accept: the chain is valid.');
    for (const fault of faults.slice(0, 20)) console.log(describeFault(fault));
    if (faults.length > 20) console.log(`and ${faults.length - 20} more`);
    console.log('Accepted. The chain continues from its current end.');
  });
}

/**
 * Returns the stored head of the chain; null if its file cannot be read. That is not an error, because the file is
 * replaced anyway.
 */
async function existingHead(services: Parameters<typeof readKeptHead>[0]): Promise<KeptHead | null> {
  try {
    return await readKeptHead(services);
  } catch (error) {
    console.log(error instanceof Error ? error.message : 'The stored head could not be read.');
    return null;
  }
}

main().catch((error: unknown) => {
  console.error(`Not accepted: ${error instanceof Error ? error.message : 'unknown error'}`);
  process.exitCode = 2;
});
