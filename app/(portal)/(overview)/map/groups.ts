'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { vmsAddress } from '#app/_lib/vms-address.ts';
import type { FleetFilter } from '#server/domain/fleet/index.ts';
import type { MemberCount } from '#server/domain/rollout-rules/words.ts';
import { type ExtensionHealth, mildestFirst, type VmHealth } from '#server/domain/verdicts/words.ts';
import type { FleetMap } from '#server/domain/views/overview/index.ts';
import type { MapGrouping } from '../addresses.ts';

export type { FleetMap };

/** Filter fields for the VMs of a rollout. */
interface RolloutFilter {
  rollout?: string;
  step?: readonly MemberCount[];
}

type MapGroup = FleetMap['groups'][number];

const tagOf = (groupBy: MapGrouping): string => groupBy.slice('tag:'.length);

/** Returns a function that labels a grouping: with the name of the tag, or with a phrase. */
export function useGroupName(): (groupBy: MapGrouping) => string {
  const { t } = useTranslation('overview');
  return (groupBy) => {
    if (groupBy === 'none') return t('map.by.none');
    return groupBy === 'handler' ? t('map.by.handler') : tagOf(groupBy);
  };
}

/** Returns a function that labels a group. */
export function useGroup(): (map: FleetMap, group: MapGroup) => string {
  const { t } = useTranslation('overview');
  return ({ groupBy }, { key, rest }) => {
    if (rest) return t('map.rest');
    if (groupBy === 'none') return t('map.all');
    if (groupBy === 'handler') return key ?? '';
    if (key === null) return t('map.without', { tag: tagOf(groupBy) });
    return key === '' ? t('map.blank') : key;
  };
}

/**
 * Returns the health values that the map can show: those of VMs, or those of extensions if the map is grouped by
 * handler.
 */
export const healthsShown = ({ groupBy }: Pick<FleetMap, 'groupBy'>): readonly ExtensionHealth[] =>
  groupBy === 'handler' ? [...mildestFirst, 'disabled'] : mildestFirst;

/**
 * Returns the URL of the VM list for a group; with `health`, only for the group's VMs with this health, and with `more`,
 * only for those that match this filter too.
 */
export function groupAddress(
  { groupBy, groups }: FleetMap,
  { key, rest }: MapGroup,
  health?: ExtensionHealth,
  more: FleetFilter & RolloutFilter = {},
): string {
  const of = { ...more, ...(health !== undefined && { health: [health as VmHealth] }) };
  if (groupBy === 'none') return vmsAddress(of);
  if (groupBy === 'handler') {
    const shown = groups.flatMap((other) => other.key ?? []);
    const handlers = rest || key === null ? { otherHandler: shown.join(',') } : { handler: key };
    // The map shows the worst state of the group's extensions on a VM.
    return vmsAddress({ ...more, ...handlers, ...(health !== undefined && { state: [health], worst: ['yes'] }) });
  }
  const name = tagOf(groupBy);
  if (!rest) return vmsAddress(key === null ? { ...of, notTags: [{ name }] } : { ...of, tags: [{ name, value: key }] });
  const others = groups.flatMap((other) => (other.key === null ? [] : [{ name, value: other.key }]));
  return vmsAddress({ ...of, tags: [{ name }], notTags: others });
}
