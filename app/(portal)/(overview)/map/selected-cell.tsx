'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { CellCard } from './cell-card.tsx';
import { healthAt } from './cells.ts';
import { type FleetMap, useGroup } from './groups.ts';
import { markWords } from './marks.ts';
import { type CellLayout, type CellPlace, cornerOf } from './place-cells.ts';
import type { MapVm } from './use-cell-words.ts';
import type { FleetLayout } from './use-fleet-layout.ts';
import type { Measured } from './use-measure.ts';
import type { MapStates } from './use-rollout-map.ts';

export interface SelectedCellProps {
  map: FleetMap;
  fleet: FleetLayout;
  colors: MapStates | null;
  layout: CellLayout;
  measured: Measured;
  place: CellPlace;
  vm: MapVm | null;
}

/** A frame around the selected cell, with a card about its VM. */
export function SelectedCell({ map, fleet, colors, layout, measured, place, vm }: SelectedCellProps) {
  const { t } = useTranslation('overview');
  const groupOf = useGroup();
  const group = map.groups[place.group];
  const corner = cornerOf(layout, place);
  if (group === undefined) return null;
  const { ratio, width } = measured;
  const { cells, perCell } = fleet;
  const left = corner.x / ratio;
  const top = corner.y / ratio;
  return (
    <>
      <span
        aria-hidden
        className="pointer-events-none absolute rounded-[2px] shadow-[0_0_0_1px_var(--surface),0_0_0_2.5px_var(--text)]"
        style={{ left, top, width: layout.cell.x / ratio, height: layout.cell.y / ratio }}
      />
      <CellCard
        x={left}
        y={top}
        side={layout.cell.x / ratio}
        width={width}
        vm={vm}
        health={colors === null ? healthAt(cells[place.group]?.[place.cell] ?? 0) : null}
        mark={colors === null ? null : markWords(t, colors, fleet, place)}
        more={perCell > 1 ? Math.min(perCell, group.count - place.cell * perCell) - 1 : 0}
        groupName={groupOf(map, group)}
      />
    </>
  );
}
