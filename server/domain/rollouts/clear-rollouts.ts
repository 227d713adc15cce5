import { sql } from 'drizzle-orm';
import type { Services } from '#server/domain/context.ts';

const dayMs = 24 * 60 * 60_000;
/** Steps per statement, so that no statement times out. */
const atOnce = 10_000;

/**
 * Deletes the steps and members of rollouts that ended more than `keptDays.rollouts` days ago. The rollouts, their rings
 * and their curves are kept. Returns the number of deleted rows.
 */
export async function clearRollouts({ db, config }: Services, now: Date): Promise<number> {
  const before = new Date(now.getTime() - config.keptDays.rollouts * dayMs).toISOString();
  const ended = sql`select r.id from rollouts r where r.ended_at < ${before}`;
  for (let total = 0; ; ) {
    const steps = await db.execute(sql`
      delete from rollout_steps where (vm_id, rollout_id) in (
        select s.vm_id, s.rollout_id from rollout_steps s where s.rollout_id in (${ended}) limit ${atOnce})`);
    total += steps.rowCount ?? 0;
    if ((steps.rowCount ?? 0) === atOnce) continue;
    const members = await db.execute(sql`delete from rollout_members where rollout_id in (${ended})`);
    return total + (members.rowCount ?? 0);
  }
}
