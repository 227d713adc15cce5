import type { FleetFilter } from '#server/domain/fleet/index.ts';
import type { SelectionInput, SentDefinition, SentFilter } from '../../rollouts/new/definition.ts';
import { type ChangeForm, changeOf, isUntouched, missingOfRun, sentFilter } from '../../rollouts/new/rollout-form.ts';
import { isFiltered } from '../fleet-address.ts';

export const bulkActs = ['set', 'enable', 'disable', 'remove', 'retry', 'revert', 'run'] as const;
export type BulkAct = (typeof bulkActs)[number];

/** From this many VMs on, the dialog offers rings. */
export const ringsFrom = 100;

/** Returns the change that an act begins with, for the handler of the list's filter. */
export function changeOfAct(act: BulkAct, empty: ChangeForm): ChangeForm {
  if (act === 'enable') return { ...empty, state: 'enabled' };
  if (act === 'disable') return { ...empty, state: 'disabled' };
  return { ...empty, kind: act };
}

/** Returns the rollout of an act on all VMs that match the filter; null until it is complete. */
export function bulkDefinition(
  filter: FleetFilter,
  change: ChangeForm,
  name: string,
): SentDefinition<SentFilter> | null {
  const isMissing =
    change.kind === 'run' ? missingOfRun(change.run) !== null : change.handler === '' || isUntouched(change);
  if (isMissing) return null;
  const select: SelectionInput<SentFilter> = isFiltered(filter) ? { include: sentFilter(filter) } : { all: true };
  return { kind: 'bulk', name, strategy: 'at-once', select, change: changeOf(change) };
}
