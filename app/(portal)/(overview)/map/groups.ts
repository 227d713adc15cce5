'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { FleetMap } from '#server/domain/views/overview/index.ts';
import { type MapGrouping, vmsAddress } from '../addresses.ts';

export type { FleetMap };

type MapGroup = FleetMap['groups'][number];

const tagOf = (groupBy: MapGrouping): string => groupBy.slice('tag:'.length);

/** Returns a function that returns the label of a grouping: the name of the tag, or a phrase. */
export function useGroupName(): (groupBy: MapGrouping) => string {
  const { t } = useTranslation('overview');
  return (groupBy) => {
    if (groupBy === 'none') return t('map.by.none');
    return groupBy === 'handler' ? t('map.by.handler') : tagOf(groupBy);
  };
}

/**
 * Returns a function that returns a group's label and the URL of its VM list; the URL is null if no filter can select
 * exactly the group's VMs.
 */
export function useGroup(): (map: FleetMap, group: MapGroup) => { name: string; href: string | null } {
  const { t } = useTranslation('overview');
  return ({ groupBy }, { key, rest }) => {
    if (rest) return { name: t('map.rest'), href: null };
    if (groupBy === 'none') return { name: t('map.all'), href: vmsAddress({}) };
    if (groupBy === 'handler') return { name: key ?? '', href: vmsAddress({ handler: key ?? '' }) };
    const name = tagOf(groupBy);
    return key === null
      ? { name: t('map.without', { tag: name }), href: null }
      : { name: key === '' ? t('map.blank') : key, href: vmsAddress({ tag: { name, value: key } }) };
  };
}
