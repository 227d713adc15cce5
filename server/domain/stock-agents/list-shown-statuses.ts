import { eq } from 'drizzle-orm';
import { extensionLatest } from '#db/schema/index.ts';
import type { StatusDocument } from '#protocol/index.ts';
import type { Context } from '#server/domain/context.ts';

/** The status of an extension, as pages show it. */
export interface ShownStatus {
  extension: string;
  document: StatusDocument;
}

/** Lists the statuses of a VM's extensions, as pages show them. */
export async function listShownStatuses(ctx: Context, vmId: string): Promise<ShownStatus[]> {
  const rows = await ctx.db
    .select({ extension: extensionLatest.name, document: extensionLatest.status })
    .from(extensionLatest)
    .where(eq(extensionLatest.vmId, vmId));
  return rows.flatMap(({ extension, document }) => (document === null ? [] : [{ extension, document }]));
}
