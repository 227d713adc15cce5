import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';

/**
 * Reads the revision of a VM's units and the sum of their relations' clocks, such as `41.17`. Read it before the
 * units: news in between then only causes another look.
 */
export async function readUnitsVersion(tx: Pick<Transaction, 'execute'>, vmId: string): Promise<string> {
  const { rows } = await tx.execute<{ revision: string; clocks: string }>(sql`
    select coalesce((select revision from unit_heads where vm_id = ${vmId}), 0) as revision, (
      select coalesce(sum(m.clock), 0) from (
        select distinct t.id, t.clock from units n join relation_units p on p.unit_id = n.id
          join relations t on t.id = p.relation_id
         where n.vm_id = ${vmId} and n.removed_at is null and p.state <> 'broken' and t.removed_at is null) m
    ) as clocks`);
  const [{ revision, clocks } = { revision: '0', clocks: '0' }] = rows;
  return `${revision}.${clocks}`;
}
