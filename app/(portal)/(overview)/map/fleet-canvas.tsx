'use client';

import { useEffect, useId, useRef } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import type { StepMark } from '#server/domain/rollout-rules/step-marks.ts';
import { GroupHead } from './group-head.tsx';
import { type FleetMap, useGroup } from './groups.ts';
import { countMark, markWords } from './marks.ts';
import { type CellLayout, type CellPlace, headHeight } from './place-cells.ts';
import { SelectedCell } from './selected-cell.tsx';
import { cellHandlers, useCellCursor } from './use-cell-cursor.ts';
import { useCellVm, useOpenVm } from './use-cell-vm.ts';
import { type MapVm, useCellWords } from './use-cell-words.ts';
import { type FleetLayout, useFleetLayout, usePaintedCanvas } from './use-fleet-layout.ts';
import type { MapStates } from './use-rollout-map.ts';

export interface FleetCanvasProps {
  map: FleetMap;
  /** The rollout by which the map is colored; null for health. */
  colors: MapStates | null;
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
export function FleetCanvas({ map, colors, onPerCell, onStale }: FleetCanvasProps) {
  const { t } = useTranslation('overview');
  const hintId = useId();
  const box = useRef<HTMLDivElement>(null);
  const fleet = useFleetLayout(map, colors, box);
  const { layout, measured, perCell } = fleet;
  useEffect(() => onPerCell(perCell), [onPerCell, perCell]);
  const canvas = usePaintedCanvas(fleet);
  const cursor = useCellCursor();
  const { place, hovered, walked, hasFocus } = cursor;
  const vm = useCellVm({ map, fleet, place, restMs: hovered === null ? 0 : restMs, onStale });
  const { open, cancel } = useOpenVm(vm);
  const handlers = cellHandlers({ fleet, cursor, open, cancelOpen: cancel });
  const label = useMapLabel(map, fleet, colors);
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
          <GroupHeads map={map} fleet={fleet} colors={colors} layout={layout} ratio={ratio} />
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
          {place ? <SelectedCell {...{ map, fleet, colors, layout, measured, place, vm }} /> : null}
          <p id={hintId} className="sr-only">
            {t(colors === null ? 'map.keys' : 'map.rollout.keys')}
          </p>
          <p role="status" className="sr-only">
            {hasFocus && walked && vm && place ? (
              <CellAnnouncement {...{ map, fleet, colors, place, walked, vm }} />
            ) : null}
          </p>
        </>
      ) : null}
    </div>
  );
}

interface GroupHeadsProps {
  map: FleetMap;
  fleet: FleetLayout;
  colors: MapStates | null;
  layout: CellLayout;
  ratio: number;
}

function GroupHeads({ map, fleet, colors, layout, ratio }: GroupHeadsProps) {
  const groupOf = useGroup();
  return map.groups.map((group, index) => {
    const block = layout.blocks[index];
    return block ? (
      <GroupHead
        key={JSON.stringify([group.key, group.rest])}
        name={groupOf(map, group)}
        map={map}
        group={group}
        marks={colors === null ? null : { rollout: colors.rollout.id, values: fleet.vms[index] ?? new Uint8Array() }}
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
  colors: MapStates | null;
  place: CellPlace;
  walked: CellPlace;
  vm: MapVm;
}

function CellAnnouncement({ map, fleet, colors, place, walked, vm }: CellAnnouncementProps) {
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
  const mark = colors === null ? '' : `, ${t('map.rollout.cell', markWords(t, colors, fleet, place))}`;
  return `${words}${mark}. ${position}`;
}

function useMapLabel(map: FleetMap, { vms }: FleetLayout, colors: MapStates | null): string {
  const { t } = useTranslation('overview');
  const format = useFormat();
  const shown = vms.reduce((sum, group) => sum + group.length, 0);
  const size = {
    vms: t('fleet.vms', { count: shown, shown: format.number(shown) }),
    groups: map.groups.length,
  };
  if (colors !== null) {
    const { rollout } = colors;
    const of = (mark: StepMark) => format.number(vms.reduce((sum, group) => sum + countMark(group, mark), 0));
    return t('map.rollout.label', { ...size, rollout: rollout.name, failed: of('failed'), parked: of('parked') });
  }
  return t('map.label', {
    ...size,
    failed: format.number(map.groups.reduce((sum, { failed }) => sum + failed, 0)),
    silent: format.number(map.groups.reduce((sum, { unresponsive }) => sum + unresponsive, 0)),
  });
}
