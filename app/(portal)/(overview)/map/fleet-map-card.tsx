'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { LayoutGrid, Table2 } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useSearchParams } from 'next/navigation';
import { useCallback, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import { IconButton } from '#app/_ui/button.tsx';
import { CardHeader } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { Segmented } from '#app/_ui/segmented.tsx';
import { Select } from '#app/_ui/select.tsx';
import type { FleetPage } from '../../vms/reading.ts';
import { type MapGrouping, overviewAddress, readGrouping, readRollout } from '../addresses.ts';
import { mapHeight } from '../frame.ts';
import { ColorChoice, ColorsFailed } from './color-choice.tsx';
import { type FleetMap, useGroupName } from './groups.ts';
import { Legend } from './legend.tsx';
import { fewVms } from './tiles.ts';
import { useFleetCanvas } from './use-fleet-canvas.ts';
import { useRolloutMap } from './use-rollout-map.ts';

/** Loaded on demand. The server renders it, so nothing moves when its script loads. */
const FleetTiles = dynamic(() => import('./fleet-tiles.tsx').then((module) => module.FleetTiles));
const FleetTable = dynamic(() => import('./fleet-table.tsx').then((module) => module.FleetTable), { ssr: false });

/** The map that the server loaded, and the grouping in the URL for which it was loaded. */
export interface FirstMap {
  groupBy: MapGrouping | undefined;
  map: FleetMap | undefined;
  /** The VMs of a small fleet. */
  rows: FleetPage | undefined;
  /** The open rollouts, by which the map can be colored. */
  rollouts: readonly { id: string; name: string }[];
}

export interface FleetMapCardProps {
  first: FirstMap;
  /** Names of the tags that the map can group by; undefined until they are loaded. */
  groupings: readonly string[] | undefined;
  vms: number | undefined;
}

/** The whole fleet, as a map or as a table. */
export function FleetMapCard({ first, groupings = [], vms = Number.POSITIVE_INFINITY }: FleetMapCardProps) {
  const { t } = useTranslation('overview');
  const trpc = useTRPC();
  const address = useSearchParams();
  const wish = readGrouping(address.get('by'));
  const rollout = readRollout(address.get('rollout'));
  const [asTable, setAsTable] = useState(false);
  const [perCell, setPerCell] = useState(1);
  const { FleetCanvas, error: missing, load } = useFleetCanvas();
  const input = wish === undefined ? {} : { groupBy: wish };
  const map = useQuery({
    ...trpc.overview.map.queryOptions(input),
    initialData: wish === first.groupBy ? first.map : undefined,
    placeholderData: keepPreviousData,
    enabled: false,
  });
  useThrottledReload({ queryKey: trpc.overview.map.queryKey(input), refetch: map.refetch, agesMs: 60_000 });
  const { refetch } = map;
  const reload = useCallback(() => void refetch(), [refetch]);
  const shown = useRolloutMap(map.isPlaceholderData ? undefined : map.data, rollout, reload);
  const { colors } = shown;
  const isWaiting = map.isPlaceholderData || shown.isPending;
  const tags = groupings.map((name): MapGrouping => `tag:${name}`);
  // The grouping in the URL or, if there is none, the grouping that the portal chose. Until the map is loaded, the
  // first tag is assumed.
  const groupBy = wish ?? (map.isPlaceholderData ? undefined : map.data?.groupBy) ?? tags[0] ?? 'none';
  const isSmall = vms < fewVms;
  const choices = [...new Set<MapGrouping>([...tags, 'handler', 'none', groupBy])];
  return (
    <>
      <CardHeader
        id="fleet-map"
        title={t('map')}
        note={asTable || isSmall ? undefined : perCell === 1 ? t('map.perVm') : t('map.perCell', { count: perCell })}
        actions={
          <>
            <ColorChoice wish={wish} rollout={rollout} named={colors?.rollout} open={first.rollouts} />
            <MapControls {...{ groupBy, groupings: choices, rollout, asTable }} onAsTable={setAsTable} />
          </>
        }
      />
      {shown.error === null ? null : <ColorsFailed error={shown.error} onRetry={shown.retry} />}
      {asTable && map.data ? (
        <FleetTable map={map.data} colors={colors} />
      ) : isSmall && map.data ? (
        <div className={cn('px-4 pb-3', isWaiting && 'opacity-60 transition-opacity delay-150')} aria-busy={isWaiting}>
          <FleetTiles map={map.data} colors={colors} first={first.rows} />
        </div>
      ) : (
        // After the window is resized, the map keeps its old width until it is drawn again, so the overflow is clipped.
        <div className="overflow-x-clip px-4 pb-3">
          <div
            className={cn('relative grid', mapHeight(vms), isWaiting && 'opacity-60 transition-opacity delay-150')}
            aria-busy={isWaiting || (!(map.data && FleetCanvas) && !map.error && !missing)}
          >
            {map.data && FleetCanvas ? (
              <FleetCanvas map={map.data} colors={colors} onPerCell={setPerCell} onStale={reload} />
            ) : missing || map.error ? (
              // Removes the card's padding, because an error has its own.
              <div className="-mx-4">
                {missing ? (
                  <QueryError title={t('map.failed')} error={missing} onRetry={load} />
                ) : (
                  <QueryError
                    title={t('map.failed')}
                    error={map.error}
                    onRetry={map.refetch}
                    at={new Date(map.errorUpdatedAt)}
                  />
                )}
              </div>
            ) : null}
          </div>
          <Legend groupBy={map.data?.groupBy ?? groupBy} isMarks={colors !== null} />
        </div>
      )}
    </>
  );
}

interface MapControlsProps {
  groupBy: MapGrouping;
  groupings: readonly MapGrouping[];
  rollout: string | undefined;
  asTable: boolean;
  onAsTable(asTable: boolean): void;
}

function MapControls({ groupBy, groupings, rollout, asTable, onAsTable }: MapControlsProps) {
  const { t } = useTranslation('overview');
  const groupName = useGroupName();
  const options = groupings.map((value) => ({ value, label: groupName(value) }));
  const choose = (by: MapGrouping): void => window.history.pushState(null, '', overviewAddress(by, rollout));
  return (
    <>
      <span className="text-12 text-ink-3 max-md:sr-only">{t('map.groupBy')}</span>
      {options.length <= 5 ? (
        <Segmented<MapGrouping>
          label={t('map.groupBy')}
          value={groupBy}
          onChange={choose}
          options={options}
          className="max-sm:hidden"
        />
      ) : null}
      <Select
        aria-label={t('map.groupBy')}
        value={groupBy}
        onChange={(event) => {
          const found = groupings.find((choice) => choice === event.target.value);
          if (found !== undefined) choose(found);
        }}
        options={options}
        className={cn('w-28 sm:w-36', options.length <= 5 && 'sm:hidden')}
      />
      <IconButton size="sm" label={t(asTable ? 'map.asPicture' : 'map.asTable')} onClick={() => onAsTable(!asTable)}>
        {asTable ? <LayoutGrid aria-hidden /> : <Table2 aria-hidden />}
      </IconButton>
    </>
  );
}
