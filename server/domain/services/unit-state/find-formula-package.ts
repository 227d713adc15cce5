import type { Database } from '#db/client.ts';

const byDigest = {
  name: 'formula-of-vm',
  text: `
select v.size::float8 as size from units n join services s on s.id = n.service_id
  join handler_versions v on v.handler = s.formula and v.sha256 = $2
 where n.vm_id = $1 and n.removed_at is null limit 1`,
};

/**
 * Returns the size in bytes of a package of a formula whose units are on the VM; null for any other package. A unit may
 * need an earlier version once more, so all versions of its formula count.
 */
export async function findFormulaPackage(db: Database, vmId: string, sha256: string): Promise<number | null> {
  const { rows } = await db.$client.query<{ size: number }>({ ...byDigest, values: [vmId, sha256] });
  return rows[0]?.size ?? null;
}
