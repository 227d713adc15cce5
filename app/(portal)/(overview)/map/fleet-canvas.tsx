'use client';

import { useEffect, useId, useRef } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { GroupHead } from './group-head.tsx';
import { type FleetMap, useGroup } from './groups.ts';
import { type CellLayout, type CellPlace, headHeight } from './place-cells.ts';
import { SelectedCell } from './selected-cell.tsx';
import { cellHandlers, useCellCursor } from './use-cell-cursor.ts';
import { useCellVm, useOpenVm } from './use-cell-vm.ts';
import { type MapVm, useCellWords } from './use-cell-words.ts';
import { type FleetLayout, useFleetLayout, usePaintedCanvas } from './use-fleet-layout.ts';

export interface FleetCanvasProps {
  map: FleetMap;
  onPerCell(perCell: number): void;
  /** Called if VMs were added, removed, renamed or regrouped since the map was loaded. */
  onStale(): void;
}

/** How long the pointer must stay on a cell before its VM is requested, in milliseconds. */
const restMs = 70;

/**
 * The fleet as a canvas with a single tab stop. Arrow keys move from cell to cell, and a live region announces the VM.
 * The pointer selects cells too.
 */
export function FleetCanvas({ map, onPerCell, onStale }: FleetCanvasProps) {
  const { t } = useTranslation('overview');
  const hintId = useId();
  const box = useRef<HTMLDivElement>(null);
  const fleet = useFleetLayout(map, box);
  const { layout, measured, perCell } = fleet;
  useEffect(() => onPerCell(perCell), [onPerCell, perCell]);
  const canvas = usePaintedCanvas(fleet);
  const cursor = useCellCursor();
  const { place, hovered, walked, hasFocus } = cursor;
  const vm = useCellVm({ map, fleet, place, restMs: hovered === null ? 0 : restMs, onStale });
  const { open, cancel } = useOpenVm(vm);
  const handlers = cellHandlers({ fleet, cursor, open, cancelOpen: cancel });
  const label = useMapLabel(map, fleet);
  const ratio = measured?.ratio ?? 1;
  return (
    <div
      ref={box}
      dir="ltr"
      className="relative min-h-[inherit] min-w-0"
      style={{ height: layout ? layout.height / ratio : undefined }}
    >
      {layout && measured ? (
        <>
          <GroupHeads map={map} layout={layout} ratio={ratio} />
          <div
            role="application"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a widget that handles keys
            tabIndex={0}
            aria-label={label}
            aria-describedby={hintId}
            className="absolute inset-0 rounded-xs outline-none focus-visible:shadow-focus"
            {...handlers}
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
          {place ? (
            <SelectedCell map={map} fleet={fleet} layout={layout} measured={measured} place={place} vm={vm} />
          ) : null}
          <p id={hintId} className="sr-only">
            {t('map.keys')}
          </p>
          <p role="status" className="sr-only">
            {hasFocus && walked && vm && place ? <CellAnnouncement {...{ map, fleet, place, walked, vm }} /> : null}
          </p>
        </>
      ) : null}
    </div>
  );
}

function GroupHeads({ map, layout, ratio }: { map: FleetMap; layout: CellLayout; ratio: number }) {
  const groupOf = useGroup();
  return map.groups.map((group, index) => {
    const block = layout.blocks[index];
    return block ? (
      <GroupHead
        key={JSON.stringify([group.key, group.rest])}
        name={groupOf(map, group)}
        map={map}
        group={group}
        left={block.x / ratio}
        top={block.y / ratio - headHeight}
        width={block.width / ratio}
      />
    ) : null;
  });
}

interface CellAnnouncementProps {
  map: FleetMap;
  fleet: FleetLayout;
  place: CellPlace;
  walked: CellPlace;
  vm: MapVm;
}

function CellAnnouncement({ map, fleet, place, walked, vm }: CellAnnouncementProps) {
  const { t } = useTranslation('overview');
  const format = useFormat();
  const groupOf = useGroup();
  const words = useCellWords(vm);
  const group = map.groups[place.group];
  if (group === undefined) return null;
  const position = t('map.position', {
    group: groupOf(map, group),
    place: format.number(walked.cell + 1),
    of: format.number(fleet.cells[walked.group]?.length ?? 0),
  });
  return `${words}. ${position}`;
}

function useMapLabel(map: FleetMap, { vms }: FleetLayout): string {
  const { t } = useTranslation('overview');
  const format = useFormat();
  const shown = vms.reduce((sum, group) => sum + group.length, 0);
  return t('map.label', {
    vms: t('fleet.vms', { count: shown, shown: format.number(shown) }),
    groups: map.groups.length,
    failed: format.number(map.groups.reduce((sum, { failed }) => sum + failed, 0)),
    silent: format.number(map.groups.reduce((sum, { unresponsive }) => sum + unresponsive, 0)),
  });
}
