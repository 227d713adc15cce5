import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import { extensions, resources, vms } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { type HandlerSummary, listHandlers } from '#server/domain/packages/index.ts';
import type { ListHandlersInput } from '#server/domain/packages/input.ts';

/** A handler in the catalogue: what it is, how far its versions are, and where it is used. */
export interface CatalogueRow extends HandlerSummary {
  /** VMs that should have it now, in whatever version. */
  vms: number;
  /** Languages of the newest published version, English first. */
  languages: string[];
}

/** A page of handlers by id, each with its VMs and languages. */
export async function listCatalogue(
  ctx: Context,
  input: ListHandlersInput = {},
): Promise<{ items: CatalogueRow[]; nextCursor: string | null }> {
  const { items, nextCursor } = await listHandlers(ctx, input);
  if (items.length === 0) return { items: [], nextCursor };
  const ids = items.map(({ handler }) => handler);
  const [counts, languages] = await Promise.all([
    ctx.db
      .select({ handler: extensions.handler, vms: sql<number>`count(distinct ${extensions.vmId})`.mapWith(Number) })
      .from(extensions)
      .innerJoin(vms, and(eq(vms.id, extensions.vmId), isNull(vms.deletedAt)))
      .where(inArray(extensions.handler, ids))
      .groupBy(extensions.handler),
    ctx.db
      .select({ handler: resources.handler, version: resources.version, lang: resources.lang })
      .from(resources)
      .where(inArray(resources.handler, ids))
      .orderBy(sql`${resources.lang} <> 'en'`, resources.lang),
  ]);
  const vmsOf = new Map(counts.map((row) => [row.handler, row.vms]));
  return {
    items: items.map((item) => ({
      ...item,
      vms: vmsOf.get(item.handler) ?? 0,
      languages: languages
        .filter(({ handler, version }) => handler === item.handler && version === item.latestVersion)
        .map(({ lang }) => lang),
    })),
    nextCursor,
  };
}
