import { inArray, sql } from 'drizzle-orm';
import { extensionHealth, resources } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { type HandlerSummary, handlersOfSeveralSql, listHandlers } from '#server/domain/packages/index.ts';
import type { ListHandlersInput } from '#server/domain/packages/input.ts';
import { countVmsByFormula } from '#server/domain/services/index.ts';

/** A handler or formula in the catalog, with the number of VMs that use it and its languages. */
export interface CatalogueRow extends HandlerSummary {
  /** Number of VMs with an extension of the handler or a unit of the formula, in any version. */
  vms: number;
  /** Languages of the highest published version, English first. */
  languages: string[];
}

/** Lists one page of handlers, sorted by id, each with its number of VMs and its languages. */
export async function listCatalogue(
  ctx: Context,
  input: ListHandlersInput = {},
): Promise<{ items: CatalogueRow[]; nextCursor: string | null }> {
  const { items, nextCursor } = await listHandlers(ctx, input);
  if (items.length === 0) return { items: [], nextCursor };
  const ids = items.map(({ handler }) => handler);
  const formulas = items.filter(({ kind }) => kind === 'formula').map(({ handler }) => handler);
  const [counts, withUnits, languages] = await Promise.all([
    countVms(ctx, ids),
    countVmsByFormula(ctx, formulas),
    ctx.db
      .select({ handler: resources.handler, version: resources.version, lang: resources.lang })
      .from(resources)
      .where(inArray(resources.handler, ids))
      .orderBy(sql`${resources.lang} <> 'en'`, resources.lang),
  ]);
  return {
    items: items.map((item) => ({
      ...item,
      vms: (item.kind === 'formula' ? withUnits : counts).get(item.handler) ?? 0,
      languages: languages
        .filter(({ handler, version }) => handler === item.handler && version === item.latestVersion)
        .map(({ lang }) => lang),
    })),
    nextCursor,
  };
}

/**
 * Counts VMs per handler. If a VM can have only one extension of the handler, it is enough to count the handler's
 * extensions, which needs only an index.
 */
async function countVms(ctx: Context, handlers: string[]): Promise<Map<string, number>> {
  const { rows } = await ctx.db.execute<{ handler: string; vms: number }>(sql`
    select h.handler, case
        when h.handler in ${handlersOfSeveralSql} then (select count(distinct e.vm_id)::int from ${extensionHealth} e where e.handler = h.handler)
        else (select count(*)::int from ${extensionHealth} e where e.handler = h.handler)
      end as vms
    from unnest(${sql.param(handlers)}::text[]) h(handler)`);
  return new Map(rows.map(({ handler, vms }) => [handler, vms]));
}
