'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { LayoutGrid, Table2 } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useSearchParams } from 'next/navigation';
import { useState } from 'react';
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
import { type MapGrouping, overviewAddress, readGrouping } from '../addresses.ts';
import { mapHeight } from '../frame.ts';
import { type FleetMap, useGroupName } from './groups.ts';
import { Legend } from './legend.tsx';
import { fewVms } from './tiles.ts';
import { useFleetCanvas } from './use-fleet-canvas.ts';

/** Loaded on demand. The server renders it, so nothing moves when its script loads. */
const FleetTiles = dynamic(() => import('./fleet-tiles.tsx').then((module) => module.FleetTiles));
const FleetTable = dynamic(() => import('./fleet-table.tsx').then((module) => module.FleetTable), { ssr: false });

/** The map that the server loaded, and the grouping in the URL for which it was loaded. */
export interface FirstMap {
  groupBy: MapGrouping | undefined;
  map: FleetMap | undefined;
  /** The VMs of a small fleet. */
  rows: FleetPage | undefined;
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
  const wish = readGrouping(useSearchParams().get('by'));
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
        actions={<MapControls {...{ groupBy, groupings: choices, asTable }} onAsTable={setAsTable} />}
      />
      {asTable && map.data ? (
        <FleetTable map={map.data} />
      ) : isSmall && map.data ? (
        <div
          className={cn('px-4 pb-3', map.isPlaceholderData && 'opacity-60 transition-opacity delay-150')}
          aria-busy={map.isPlaceholderData}
        >
          <FleetTiles map={map.data} first={first.rows} />
        </div>
      ) : (
        // After the window is resized, the map keeps its old width until it is drawn again, so the overflow is clipped.
        <div className="overflow-x-clip px-4 pb-3">
          <div
            className={cn(
              'relative grid',
              mapHeight(vms),
              map.isPlaceholderData && 'opacity-60 transition-opacity delay-150',
            )}
            aria-busy={map.isPlaceholderData || (!(map.data && FleetCanvas) && !map.error && !missing)}
          >
            {map.data && FleetCanvas ? (
              <FleetCanvas map={map.data} onPerCell={setPerCell} onStale={() => void map.refetch()} />
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
          <Legend groupBy={map.data?.groupBy ?? groupBy} />
        </div>
      )}
    </>
  );
}

interface MapControlsProps {
  groupBy: MapGrouping;
  groupings: readonly MapGrouping[];
  asTable: boolean;
  onAsTable(asTable: boolean): void;
}

function MapControls({ groupBy, groupings, asTable, onAsTable }: MapControlsProps) {
  const { t } = useTranslation('overview');
  const groupName = useGroupName();
  const options = groupings.map((value) => ({ value, label: groupName(value) }));
  const choose = (by: MapGrouping): void => window.history.pushState(null, '', overviewAddress(by));
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
