import { isFiltered } from '../../vms/fleet-address.ts';
import type { RolloutForm } from './rollout-form.ts';

/** Number of VMs in the sample. */
export const sampleSize = 10;

/** The parts of the form that select VMs by a filter. */
export type MatchesTarget = Pick<RolloutForm, 'target' | 'include'>;

/** Returns the query for the VMs that the form's filter matches; null if the form selects no VMs by a filter. */
export function matchesQuery({ target, include }: MatchesTarget) {
  const filter = target === 'all' ? {} : include;
  const isOpen = target === 'all' || (target === 'filter' && isFiltered(filter));
  return { input: { ...filter, sort: 'name' as const, limit: sampleSize, counted: true }, isOpen };
}
