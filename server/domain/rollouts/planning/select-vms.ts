import { type SQL, sql } from 'drizzle-orm';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { type FleetFilter, fleetSource } from '#server/domain/fleet/index.ts';
import type { Selection, StoredFilter } from '#server/domain/rollout-rules/stored.ts';

type Fields = Pick<Context, 'fleetFields' | 'now'>;

/**
 * SQL condition for the VMs `v` that a selection contains. Throws 422 `selection_empty` for a filter without conditions
 * and for a condition that this portal does not know, because leaving either out would select more VMs.
 */
export function isSelected(ctx: Fields, select: Selection): SQL {
  if ('ids' in select) return sql`v.id = any(${sql.param(select.ids)}::uuid[])`;
  const excluded = select.exclude && hasConditions(select.exclude) ? select.exclude : null;
  const outside = excluded === null ? sql`true` : sql`v.id not in (${matchingIds(ctx, excluded)})`;
  return 'all' in select ? outside : sql`v.id in (${matchingIds(ctx, select.include)}) and ${outside}`;
}

/** SQL for the ids of the VMs that the VM list shows with this filter. Throws the same as `isSelected`. */
export function matchingIds({ fleetFields, now }: Fields, filter: StoredFilter): SQL {
  const known = new Set(fleetFields.map(({ name }) => name));
  if (!hasConditions(filter) || Object.keys(filter).some((name) => !known.has(name))) {
    throw new DomainError('unprocessable', 'selection_empty');
  }
  const { id, table, where } = fleetSource(fleetFields, filter as FleetFilter, now);
  return sql`select ${id} as id from ${table} where ${where}`;
}

const hasConditions = (filter: StoredFilter): boolean =>
  Object.values(filter).some((value) => typeof value === 'number' || (value as string | unknown[]).length > 0);
