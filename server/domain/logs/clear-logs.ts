import { sql } from 'drizzle-orm';
import type { Services } from '#server/domain/context.ts';
import { removeUnusedBytes } from '#server/domain/packages/index.ts';
import { dropOutputs } from './drop-old-outputs.ts';

const dayMs = 24 * 60 * 60_000;
const atOnce = 500;

/** Deletes expired outputs and archives with their bytes. Returns how many outputs and archives were deleted. */
export async function clearLogs(services: Services, now: Date): Promise<number> {
  const before = new Date(now.getTime() - services.config.keptDays.logs * dayMs).toISOString();
  return (await clearOutputs(services, before)) + (await clearArchives(services, before));
}

async function clearOutputs(services: Services, before: string): Promise<number> {
  for (let total = 0; ; ) {
    const { rows } = await services.db.execute<{ vm_id: string; ids: string[] }>(sql`
      select vm_id, array_agg(id) as ids from (
        select vm_id, id from command_outputs where updated_at < ${before} order by updated_at limit ${atOnce}
      ) o group by vm_id`);
    for (const { vm_id, ids } of rows) {
      const freed = await services.db.transaction((tx) => dropOutputs(tx, vm_id, ids));
      for (const sha256 of freed) await removeUnusedBytes(services, sha256);
      total += ids.length;
    }
    if (rows.length === 0) return total;
  }
}

async function clearArchives(services: Services, before: string): Promise<number> {
  const { rows } = await services.db.execute<{ sha256: string | null }>(sql`
    delete from log_archives where requested_at < ${before} returning sha256`);
  for (const { sha256 } of rows) if (sha256 !== null) await removeUnusedBytes(services, sha256);
  return rows.length;
}
