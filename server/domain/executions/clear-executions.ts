import { sql } from 'drizzle-orm';
import type { Services } from '#server/domain/context.ts';
import { dropTranscripts } from '#server/domain/logs/index.ts';

const dayMs = 24 * 60 * 60_000;
/** Executions per statement, so that no statement times out. */
const atOnce = 500;

/**
 * Deletes executions that ended more than `keptDays.executions` days ago, with their calls, their transcripts, and the
 * plans that no other execution uses. Returns the number of deleted executions.
 */
export async function clearExecutions(services: Services, now: Date): Promise<number> {
  const before = new Date(now.getTime() - services.config.keptDays.executions * dayMs).toISOString();
  for (let total = 0; ; ) {
    const cleared = await clearSome(services, before);
    total += cleared;
    if (cleared < atOnce) return total;
  }
}

async function clearSome(services: Services, before: string): Promise<number> {
  const { rows } = await services.db.execute<{ vm_id: string; id: string; plan_sha256: string }>(sql`
    delete from executions where (vm_id, id) in (
      select vm_id, id from executions where queued_at < ${before} and concluded_at < ${before}
       order by queued_at limit ${atOnce}
    ) returning vm_id, id, plan_sha256`);
  for (const [vmId, ofVm] of Map.groupBy(rows, (row) => row.vm_id)) {
    const ids = ofVm.map(({ id }) => id);
    await dropTranscripts(services, vmId, ids);
  }
  const plans = [...new Set(rows.map((row) => row.plan_sha256))].sort();
  await clearPlans(services, plans);
  return rows.length;
}

/** Deletes these plans, except those that an execution uses. */
async function clearPlans({ db }: Services, digests: readonly string[]): Promise<void> {
  const among = sql`any(${sql.param(digests)}::text[])`;
  await db.transaction(async (tx) => {
    // After the lock, the next statement sees every execution that was queued with one of the plans.
    await tx.execute(sql`select from execution_plans where sha256 = ${among} order by sha256 for update`);
    await tx.execute(sql`
      delete from execution_plans p where sha256 = ${among}
         and not exists (select from executions e where e.plan_sha256 = p.sha256)`);
  });
}
