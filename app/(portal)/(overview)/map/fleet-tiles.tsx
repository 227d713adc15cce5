'use client';

import { useQuery } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useId, useRef } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import type { FleetRow } from '#server/domain/views/index.ts';
import type { FleetPage } from '../../vms/reading.ts';
import { type FleetMap, useGroup } from './groups.ts';
import { Tile, useReason } from './tile.tsx';
import { TileGroupHead } from './tile-group-head.tsx';
import { healthIn, nextUnhealthyTile, stepTile, type TileVm, tileRows, tilesOf } from './tiles.ts';
import { useMapCursor } from './use-map-cursor.ts';
import type { MapStates } from './use-rollout-map.ts';

export interface FleetTilesProps {
  map: FleetMap;
  /** The rollout by which the tiles are marked; null for health. */
  colors: MapStates | null;
  /** The VMs that the server has loaded. */
  first: FleetPage | undefined;
}

/** A small fleet as named tiles, with a single tab stop and the same keyboard shortcuts as the canvas. */
export function FleetTiles({ map, colors, first }: FleetTilesProps) {
  const { t } = useTranslation('overview');
  const trpc = useTRPC();
  const rows = useQuery({ ...trpc.fleet.list.queryOptions(tileRows), initialData: first });
  useThrottledReload({ queryKey: trpc.fleet.list.queryKey(tileRows), refetch: rows.refetch, agesMs: 15_000 });
  if (rows.data !== undefined) return <TileMap map={map} colors={colors} rows={rows.data.items} />;
  if (rows.error) {
    return (
      <QueryError
        title={t('map.failed')}
        error={rows.error}
        onRetry={rows.refetch}
        at={new Date(rows.errorUpdatedAt)}
      />
    );
  }
  return <SkeletonRows columns={['w-40', 'w-40', 'w-40']} rows={2} label={t('map')} />;
}

interface TileMapProps extends Pick<FleetTilesProps, 'map' | 'colors'> {
  rows: readonly FleetRow[];
}

function TileMap({ map, colors, rows }: TileMapProps) {
  const { t } = useTranslation('overview');
  const hintId = useId();
  const box = useRef<HTMLDivElement>(null);
  const groups = tilesOf(map, rows);
  const tiles = groups.flatMap((group, index) => group.map((row) => ({ row, group: index })));
  const router = useRouter();
  const { walked, hasFocus, handlersOf } = useMapCursor<number>();
  const label = useTilesLabel(map, rows.length);
  const vm = hasFocus ? tiles[walked ?? -1] : undefined;
  const handlers = handlersOf({
    first: tiles.length === 0 ? null : 0,
    step: (from, by) => stepTile(boxesIn(box.current, tiles), from, by),
    nextUnhealthy: (from, direction) => nextUnhealthyTile(tiles, from, direction),
    onWalk: (place) => elementsIn(box.current)[place ?? -1]?.scrollIntoView({ block: 'nearest' }),
    open: () => {
      const opened = tiles[walked ?? -1]?.row;
      if (opened !== undefined) router.push(`/vms/${opened.id}`);
    },
  });
  return (
    <div className="min-w-0">
      <div
        ref={box}
        role="application"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a widget that handles keys
        tabIndex={0}
        aria-label={label}
        aria-describedby={hintId}
        className="grid gap-3 rounded-xs outline-none focus-visible:shadow-focus"
        {...handlers}
      >
        {map.groups.map((group, index) => (
          <div key={JSON.stringify([group.key, group.rest])}>
            <TileGroupHead map={map} group={group} />
            <div className="flex flex-wrap gap-2">
              {groups[index]?.map((row) => (
                <Tile
                  key={row.id}
                  row={row}
                  health={healthIn(map.groupBy, group.key, row)}
                  mark={colors === null ? null : (colors.vms?.[row.id] ?? 'none')}
                  isCurrent={vm?.group === index && vm.row === row}
                />
              ))}
            </div>
          </div>
        ))}
      </div>
      <p id={hintId} className="sr-only">
        {t('map.keys')}
      </p>
      <p role="status" className="sr-only">
        {vm === undefined ? null : <TileAnnouncement map={map} colors={colors} groups={groups} {...vm} />}
      </p>
    </div>
  );
}

const elementsIn = (box: HTMLElement | null): HTMLElement[] => [
  ...(box?.querySelectorAll<HTMLElement>('[data-tile]') ?? []),
];

const boxesIn = (box: HTMLElement | null, tiles: readonly TileVm[]) =>
  elementsIn(box).map((element, index) => {
    const { left, top } = element.getBoundingClientRect();
    return { left, top, group: tiles[index]?.group ?? 0 };
  });

interface TileAnnouncementProps extends TileVm {
  map: FleetMap;
  colors: MapStates | null;
  groups: readonly FleetRow[][];
}

function TileAnnouncement({ map, colors, groups, group, row }: TileAnnouncementProps) {
  const { t } = useTranslation(['overview', 'reports']);
  const format = useFormat();
  const groupOf = useGroup();
  const reason = useReason(row);
  const own = groups[group] ?? [];
  const of = map.groups[group];
  if (of === undefined) return null;
  const health = healthIn(map.groupBy, of.key, row);
  const mark = colors === null ? '' : t(`overview:mark.${colors.vms?.[row.id] ?? 'none'}`);
  const words = [row.name, mark, t(`reports:health.${health}`), reason].filter(Boolean).join(', ');
  const position = t('overview:map.position', {
    group: groupOf(map, of),
    place: format.number(own.indexOf(row) + 1),
    of: format.number(own.length),
  });
  return `${words}. ${position}`;
}

function useTilesLabel(map: FleetMap, vms: number): string {
  const { t } = useTranslation('overview');
  const format = useFormat();
  return t('map.label', {
    vms: t('fleet.vms', { count: vms, shown: format.number(vms) }),
    groups: map.groups.length,
    failed: format.number(map.groups.reduce((sum, { failed }) => sum + failed, 0)),
    silent: format.number(map.groups.reduce((sum, { unresponsive }) => sum + unresponsive, 0)),
  });
}
