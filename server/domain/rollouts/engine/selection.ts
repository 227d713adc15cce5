import { type SQL, sql } from 'drizzle-orm';
import { type FleetFilter, fleetSource } from '#server/domain/fleet/index.ts';
import type { StoredFilter } from '#server/domain/rollout-rules/stored.ts';
import type { Pass } from './pass.ts';

/**
 * Returns which of these VMs left the selection (RO-2): what people set in `include`, and all of `exclude`, is checked
 * again before each step.
 */
export async function leftSelection(pass: Pass, vmIds: readonly string[]): Promise<Set<string>> {
  const { row } = pass;
  const { select } = row.definition;
  if (vmIds.length === 0 || row.kind === 'revert') return new Set();
  const include = 'include' in select ? setByPeople(pass, select.include) : null;
  const exclude = 'exclude' in select ? (select.exclude ?? null) : null;
  const left = new Set<string>();
  if (include !== null) {
    const matching = await matchesOf(pass, include, vmIds);
    for (const vmId of vmIds) if (!matching.has(vmId)) left.add(vmId);
  }
  if (exclude !== null && Object.keys(exclude).length > 0) {
    for (const vmId of await matchesOf(pass, exclude, vmIds)) left.add(vmId);
  }
  return left;
}

/** Returns the conditions of a filter that only people change; null if there are none. */
function setByPeople({ ctx }: Pass, filter: StoredFilter): StoredFilter | null {
  const kept = ctx.fleetFields.filter(({ name, isSetByPeople }) => isSetByPeople && filter[name] !== undefined);
  return kept.length === 0 ? null : Object.fromEntries(kept.map(({ name }) => [name, filter[name]]));
}

async function matchesOf({ tx, ctx }: Pass, filter: StoredFilter, vmIds: readonly string[]): Promise<Set<string>> {
  const source = fleetSource(ctx.fleetFields, filter as FleetFilter, ctx.now);
  const query: SQL = sql`
    select ${source.id} as id from ${source.table}
     where ${source.id} = any(${sql.param(vmIds)}::uuid[]) and ${source.each}`;
  const { rows } = await tx.execute<{ id: string }>(query);
  return new Set(rows.map(({ id }) => id));
}
