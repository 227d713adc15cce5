import type { Database, Transaction } from '#db/client.ts';
import { runPrepared } from '#db/run-prepared.ts';

const stampStatement = {
  name: 'units-stamp',
  text: `
select exists (select from holds where vm_id = $1 and since is not null) as "isOnHold",
  coalesce((select revision from unit_heads where vm_id = $1), 0) || '.' || (
    select coalesce(sum(m.clock), 0) from (
      select distinct t.id, t.clock from units n join relation_units p on p.unit_id = n.id
        join relations t on t.id = p.relation_id
       where n.vm_id = $1 and n.removed_at is null and p.state <> 'broken' and t.removed_at is null) m
  ) as version`,
};

/** The version of a VM's units, and whether the VM is on hold. */
export interface UnitsStamp {
  /** The revision of the units and the sum of their relations' clocks, such as `41.17`. */
  version: string;
  isOnHold: boolean;
}

/** Reads the stamp of a VM's units. Read it before the units: news in between then only causes another look. */
export async function readUnitsStamp(db: Pick<Database | Transaction, '_'>, vmId: string): Promise<UnitsStamp> {
  const [stamp] = await runPrepared<UnitsStamp>(db, stampStatement, [vmId]);
  return stamp ?? { version: '0.0', isOnHold: false };
}
