import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';

/**
 * Returns a digest of everything that decides what a change does to each VM, apart from sequence numbers: the same
 * change does the same to VMs with the same digest. Null if the VM does not exist or is being decommissioned. Runs one
 * statement.
 */
export async function declarationDigests(
  tx: Transaction,
  vmIds: readonly string[],
): Promise<Map<string, string | null>> {
  const { rows } = await tx.execute<{ vm_id: string; digest: string | null }>(sql`
    with declared as (
      select e.vm_id, string_agg(md5(row(
               e.name, e.handler, e.requested_version, e.version, e.state, e.auto_upgrade_minor_version, e.depends_on,
               e.timeouts::text, e.public_settings::text, e.ever_delivered,
               s.id is null, s.schema_digest, s.sealed is null, s.cms is null)::text), '' order by e.name) as digests
        from extensions e left join secrets s on s.vm_id = e.vm_id and s.id = e.secret_id
       where e.vm_id = any(${sql.param(vmIds)}::uuid[])
       group by e.vm_id)
    select v.id as vm_id,
           case when v.deleted_at is null and v.decommissioning_at is null
                then md5(row(h.certificate is null, a.kind, a.os, d.digests)::text) end as digest
      from vms v
      join goal_state_heads h on h.vm_id = v.id
      left join agents a on a.vm_id = v.id
      left join declared d on d.vm_id = v.id
     where v.id = any(${sql.param(vmIds)}::uuid[])`);
  return new Map(rows.map(({ vm_id, digest }) => [vm_id, digest]));
}
