import type { Database } from '#db/client.ts';

const byDigest = {
  name: 'package-of-vm',
  text: `
select v.size::float8 as size from handler_versions v where v.sha256 = $2 and (
  exists (select from extensions e where e.vm_id = $1 and e.handler = v.handler and e.version = v.version)
  or exists (
    select from goal_state_heads h join goal_states g on g.vm_id = h.vm_id and g.incarnation = h.held_incarnation,
      json_array_elements(g.contents) c
     where h.vm_id = $1 and c ->> 'handler' = v.handler and c ->> 'version' = v.version)) limit 1`,
};

/**
 * Returns the size in bytes of a package that is declared for the VM, or named in the goal state of a held VM; null for
 * any other package.
 */
export async function findPackageOfVm(db: Database, vmId: string, sha256: string): Promise<number | null> {
  const { rows } = await db.$client.query<{ size: number }>({ ...byDigest, values: [vmId, sha256] });
  return rows[0]?.size ?? null;
}
