import { sql } from 'drizzle-orm';
import type { Services } from '#server/domain/context.ts';
import { showRejection } from '#server/domain/vms/index.ts';

/**
 * Number of table pages per scan, which takes about a second. If the history is larger, a sample of its pages is
 * scanned.
 */
const pagesPerScan = 20_000;
/** Maximum number of VMs cleared per scan. */
const vmsPerScan = 100;

/**
 * Deletes the oldest reports of VMs that store more than `limits.vm.historyBytes`. Finds these VMs from a sample, so
 * that a large history is not read completely, and then measures each of them exactly. Returns the number of deleted
 * rows.
 */
export async function clearHistory({ db, config }: Pick<Services, 'db' | 'config'>, now: Date): Promise<number> {
  const { historyBytes } = config.limits.vm;
  const { rows: sizes } = await db.execute<{ pages: string }>(sql`
    select coalesce(sum(pg_relation_size(inhrelid) / current_setting('block_size')::bigint), 0) as pages
      from pg_inherits where inhparent = 'report_history'::regclass`);
  const percent = Math.min(100, (100 * pagesPerScan) / Math.max(1, Number(sizes[0]?.pages)));
  const { rows: suspects } = await db.execute<{ vm_id: string }>(sql`
    select vm_id from report_history tablesample system (${percent}::real)
     group by vm_id having sum(pg_column_size(document)) * ${100 / percent}::float8 > ${historyBytes}::float8 * 0.5
     order by sum(pg_column_size(document)) desc limit ${vmsPerScan}`);
  let removed = 0;
  for (const { vm_id: vmId } of suspects) removed += await clearVm({ db }, vmId, historyBytes, now);
  return removed;
}

async function clearVm({ db }: Pick<Services, 'db'>, vmId: string, bytes: number, now: Date): Promise<number> {
  return db.transaction(async (tx) => {
    const removed = await tx.execute(sql`
      with newest as (
        select at, id, sum(pg_column_size(document)) over (order by at desc, id desc) as bytes
          from report_history where vm_id = ${vmId}
      ), last as (select at, id from newest where bytes > ${bytes} order by at desc, id desc limit 1)
      delete from report_history h using last where h.vm_id = ${vmId} and (h.at, h.id) <= (last.at, last.id)`);
    const count = removed.rowCount ?? 0;
    if (count > 0) await showRejection(tx, vmId, 'history_cleared', now);
    return count;
  });
}
