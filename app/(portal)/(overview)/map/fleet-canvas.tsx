'use client';

import { useQuery } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import {
  type KeyboardEvent,
  type PointerEvent,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { CellCard } from './cell-card.tsx';
import { nextTrouble, unpackCells, vmOfCell, worstOf } from './cells.ts';
import { GroupHead } from './group-head.tsx';
import { type FleetMap, useGroup } from './groups.ts';
import { Painting } from './paint.ts';
import { cellAt, cornerOf, headHeight, layOut, type Place, type Step, step } from './place-cells.ts';
import { useCellWords } from './use-cell-words.ts';
import { useMeasure } from './use-measure.ts';
import { usePalette } from './use-palette.ts';

export interface FleetCanvasProps {
  map: FleetMap;
  onPerCell(perCell: number): void;
  /** The fleet is another one than the map shows. */
  onStale(): void;
}

const steps: Readonly<Record<string, Step>> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
  Home: 'first',
  End: 'last',
  PageUp: 'previousGroup',
  PageDown: 'nextGroup',
};

/** Milliseconds that a pointer rests on a cell before its VM is asked for. */
const restMs = 70;

/**
 * The picture: one widget that takes the focus once; inside it keys walk from cell to cell, and what they reach is told
 * in words. A pointer shows the same.
 */
export function FleetCanvas({ map, onPerCell, onStale }: FleetCanvasProps) {
  const { t } = useTranslation('overview');
  const format = useFormat();
  const router = useRouter();
  const trpc = useTRPC();
  const groupOf = useGroup();
  const hintId = useId();
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const measured = useMeasure(box);
  const palette = usePalette();
  const [hovered, setHovered] = useState<Place | null>(null);
  const [walked, setWalked] = useState<Place | null>(null);
  const [hasFocus, setHasFocus] = useState(false);
  const opening = useRef(false);

  const sizes = map.groups.map(({ count }) => count).join();
  const layout = useMemo(() => {
    if (measured === null) return null;
    const { width, height, ratio } = measured;
    const counts = sizes === '' ? [] : sizes.split(',').map(Number);
    return layOut({ counts, width: Math.floor(width * ratio), height: Math.floor(height * ratio), ratio });
  }, [measured, sizes]);
  const vms = useMemo(() => map.groups.map(({ cells, count }) => unpackCells(cells, count)), [map]);
  const perCell = layout?.perCell ?? 1;
  const cells = useMemo(() => vms.map((one) => worstOf(one, perCell)), [vms, perCell]);
  useEffect(() => onPerCell(perCell), [onPerCell, perCell]);

  const painting = useMemo(() => (layout && palette ? new Painting(layout, palette) : null), [layout, palette]);
  useLayoutEffect(() => {
    const pen = canvas.current?.getContext('2d');
    if (!pen || painting === null) return;
    performance.mark('fleet-map:begin');
    painting.draw(pen, cells);
    performance.measure('fleet-map', 'fleet-map:begin');
  }, [painting, cells]);

  const place = hovered ?? (hasFocus ? walked : null);
  const settled = useSettled(place, hovered === null ? 0 : restMs);
  const asked = settled && {
    groupBy: map.groupBy,
    revision: map.revision,
    group: settled.group,
    index: vmOfCell(vms[settled.group] ?? new Uint8Array(), settled.cell, perCell),
  };
  const cell = useQuery({
    ...trpc.overview.cell.queryOptions(asked ?? { groupBy: 'none', revision: '', group: 0, index: 0 }),
    enabled: asked !== null,
    staleTime: 5_000,
    retry: false,
  });
  const isStale = cell.data?.isStale === true;
  useEffect(() => {
    if (isStale) onStale();
  }, [isStale, onStale]);
  const isSettled = place !== null && settled?.group === place.group && settled.cell === place.cell;
  const vm = isSettled && asked !== null ? (cell.data?.cell ?? null) : null;
  const vmId = vm?.id;
  useEffect(() => {
    if (!opening.current || vmId === undefined) return;
    opening.current = false;
    router.push(`/vms/${vmId}`);
  }, [vmId, router]);
  const open = (): void => {
    if (vm) router.push(`/vms/${vm.id}`);
    else opening.current = true;
  };
  const told = useCellWords(vm);

  const at = (event: PointerEvent): Place | null => {
    if (layout === null || measured === null) return null;
    const frame = event.currentTarget.getBoundingClientRect();
    return cellAt(layout, (event.clientX - frame.left) * measured.ratio, (event.clientY - frame.top) * measured.ratio);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (layout === null || event.altKey || event.ctrlKey || event.metaKey) return;
    const from = walked ?? { group: 0, cell: 0 };
    const direction = steps[event.key];
    let next: Place | null = null;
    if (direction !== undefined) next = walked === null ? from : step(layout, from, direction);
    else if (event.key === 'n' || event.key === 'N') next = nextTrouble(cells, from, event.key === 'n' ? 1 : -1);
    else if (event.key === 'Enter') open();
    else if (event.key === 'Escape' && place !== null) setWalked(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
    opening.current = event.key === 'Enter' && vm === null;
    setHovered(null);
    if (next !== null) setWalked(next);
  };

  const ratio = measured?.ratio ?? 1;
  const corner = layout && place ? cornerOf(layout, place) : null;
  const group = place ? map.groups[place.group] : undefined;
  const failed = map.groups.reduce((sum, one) => sum + one.failed, 0);
  const silent = map.groups.reduce((sum, one) => sum + one.unresponsive, 0);
  const shown = vms.reduce((sum, one) => sum + one.length, 0);
  return (
    <div
      ref={box}
      dir="ltr"
      className="relative min-h-[inherit] min-w-0"
      style={{ height: layout ? layout.height / ratio : undefined }}
    >
      {layout && measured ? (
        <>
          {map.groups.map((one, index) => {
            const block = layout.blocks[index];
            return block ? (
              <GroupHead
                key={JSON.stringify([one.key, one.rest])}
                {...groupOf(map, one)}
                group={one}
                left={block.x / ratio}
                top={block.y / ratio - headHeight}
                width={block.width / ratio}
              />
            ) : null;
          })}
          <div
            role="application"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a widget of its own keys
            tabIndex={0}
            aria-label={t('map.label', {
              vms: t('fleet.vms', { count: shown, shown: format.number(shown) }),
              groups: map.groups.length,
              failed: format.number(failed),
              silent: format.number(silent),
            })}
            aria-describedby={hintId}
            className="absolute inset-0 rounded-xs outline-none focus-visible:shadow-focus"
            onKeyDown={onKeyDown}
            onFocus={() => setHasFocus(true)}
            onBlur={() => {
              setHasFocus(false);
              opening.current = false;
            }}
            onPointerMove={(event) => {
              if (event.pointerType !== 'mouse') return;
              const found = at(event);
              if (found?.group !== hovered?.group || found?.cell !== hovered?.cell) setHovered(found);
            }}
            onPointerLeave={() => setHovered(null)}
            onClick={(event) => {
              const found = at(event as unknown as PointerEvent);
              if (found === null) return setWalked(null);
              const isTouch = (event.nativeEvent as globalThis.PointerEvent).pointerType !== 'mouse';
              setWalked(found);
              if (!isTouch) open();
            }}
            style={{ cursor: hovered ? 'pointer' : undefined, pointerEvents: 'auto' }}
          >
            <canvas
              ref={canvas}
              width={layout.width}
              height={Math.max(1, layout.height)}
              aria-hidden
              style={{ width: layout.width / ratio, height: Math.max(1, layout.height) / ratio }}
              className="block"
            />
          </div>
          {corner && group && place ? (
            <>
              <span
                aria-hidden
                className="pointer-events-none absolute rounded-[2px] shadow-[0_0_0_1px_var(--surface),0_0_0_2.5px_var(--text)]"
                style={{
                  left: corner.x / ratio,
                  top: corner.y / ratio,
                  width: layout.cell.x / ratio,
                  height: layout.cell.y / ratio,
                }}
              />
              <CellCard
                x={corner.x / ratio}
                y={corner.y / ratio}
                side={layout.cell.x / ratio}
                width={measured.width}
                vm={vm}
                health={cells[place.group]?.[place.cell] ?? 0}
                more={perCell > 1 ? Math.min(perCell, group.count - place.cell * perCell) - 1 : 0}
                groupName={groupOf(map, group).name}
              />
            </>
          ) : null}
          <p id={hintId} className="sr-only">
            {t('map.keys')}
          </p>
          <p role="status" className="sr-only">
            {hasFocus && walked && vm && group
              ? `${told}. ${t('map.position', {
                  group: groupOf(map, group).name,
                  place: format.number(walked.cell + 1),
                  of: format.number(cells[walked.group]?.length ?? 0),
                })}`
              : null}
          </p>
        </>
      ) : null}
    </div>
  );
}

/** A place once it has been the same for so long. */
function useSettled(place: Place | null, ms: number): Place | null {
  const [settled, setSettled] = useState<Place | null>(null);
  const group = place?.group;
  const cell = place?.cell;
  useEffect(() => {
    const timer = setTimeout(() => setSettled(group === undefined || cell === undefined ? null : { group, cell }), ms);
    return () => clearTimeout(timer);
  }, [group, cell, ms]);
  return settled;
}
