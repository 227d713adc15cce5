import type { FleetFilter } from '#server/domain/fleet/index.ts';

/** The active filters, and a function that changes some of them. */
export interface FilterProps {
  filter: FleetFilter;
  set(change: FleetFilter): void;
}

/** Whether a filter's value selects anything. */
export const hasValue = (value: unknown): boolean =>
  value !== undefined && !(Array.isArray(value) && value.length === 0);
