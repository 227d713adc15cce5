import { hasEnded, type ListedRollout } from './rollout-data.ts';

export const groupNames = ['needs', 'running', 'ended'] as const;
export type GroupName = (typeof groupNames)[number];

/** A rollout and, below it, the reverts and retries that belong to it. */
export interface ListedRow {
  row: ListedRollout;
  /** Whether the row stands below the rollout that it belongs to. */
  isPart: boolean;
}

const groupOf = (row: ListedRollout): GroupName => (row.needsPerson ? 'needs' : hasEnded(row) ? 'ended' : 'running');

/** Sorts rollouts into those that need a person, other open ones and ended ones. Rollouts of others follow them. */
export function groupRows(rows: readonly ListedRollout[]): Record<GroupName, ListedRow[]> {
  const groups: Record<GroupName, ListedRow[]> = { needs: [], running: [], ended: [] };
  for (const name of groupNames) {
    const own = rows.filter((row) => groupOf(row) === name);
    const ids = new Set(own.map(({ id }) => id));
    for (const row of own) {
      if (row.of !== null && ids.has(row.of)) continue;
      groups[name].push({ row, isPart: false }, ...partsOf(own, row.id).map((part) => ({ row: part, isPart: true })));
    }
  }
  return groups;
}

function partsOf(rows: readonly ListedRollout[], id: string): ListedRollout[] {
  return rows.filter(({ of }) => of === id).flatMap((row) => [row, ...partsOf(rows, row.id)]);
}
