import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';

/** Creates the rows for new extensions' reports, because the batch statement only updates rows. */
export async function expectReports(
  tx: Transaction,
  extensions: readonly { vmId: string; name: string }[],
): Promise<void> {
  if (extensions.length === 0) return;
  const vmIds = sql.param(extensions.map(({ vmId }) => vmId));
  const names = sql.param(extensions.map(({ name }) => name));
  const rows = sql`select * from unnest(${vmIds}::uuid[], ${names}::text[])`;
  await tx.execute(sql`insert into extension_pulse (vm_id, name) ${rows}`);
  await tx.execute(sql`insert into extension_latest (vm_id, name) ${rows}`);
}
