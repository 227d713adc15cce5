'use client';

import { type RefObject, useLayoutEffect, useMemo, useRef } from 'react';
import { stepMarkLetters } from '#server/domain/rollout-rules/step-marks.ts';
import { unpackCells, worstOf } from './cells.ts';
import type { FleetMap } from './groups.ts';
import { healthLooks, markLooks } from './looks.ts';
import { Painting } from './paint.ts';
import { type CellLayout, layOutCells } from './place-cells.ts';
import { type Measured, useMeasure } from './use-measure.ts';
import { usePalette } from './use-palette.ts';
import type { MapStates } from './use-rollout-map.ts';

/** The map's groups as cells, and their positions in the measured element. */
export interface FleetLayout {
  measured: Measured | null;
  layout: CellLayout | null;
  /** What the map shows of each VM, by group: an index into `healthLooks` or `markLooks`. */
  vms: readonly Uint8Array[];
  /** The worst value in each cell, by group. */
  cells: readonly Uint8Array[];
  perCell: number;
  /** Whether the values are marks in a rollout; otherwise, they are health. */
  isMarks: boolean;
}

/**
 * Returns the cells of the map and their positions in an element, updated when the element's size changes. With
 * `colors`, cells have the states of a rollout, at the same positions.
 */
export function useFleetLayout(
  map: FleetMap,
  colors: MapStates | null,
  box: RefObject<HTMLElement | null>,
): FleetLayout {
  const measured = useMeasure(box);
  const sizes = map.groups.map(({ count }) => count).join();
  const layout = useMemo(() => {
    if (measured === null) return null;
    const { width, height, ratio } = measured;
    const counts = sizes === '' ? [] : sizes.split(',').map(Number);
    return layOutCells({ counts, width: Math.floor(width * ratio), height: Math.floor(height * ratio), ratio });
  }, [measured, sizes]);
  const vms = useMemo(
    () =>
      map.groups.map(({ cells, count }, index) =>
        colors === null ? unpackCells(cells, count) : unpackCells(colors.groups[index] ?? '', count, stepMarkLetters),
      ),
    [map, colors],
  );
  const perCell = layout?.perCell ?? 1;
  const cells = useMemo(() => vms.map((group) => worstOf(group, perCell)), [vms, perCell]);
  return { measured, layout, vms, cells, perCell, isMarks: colors !== null };
}

/** Draws the cells in the colors of the theme. Returns the ref of the canvas. */
export function usePaintedCanvas({ layout, cells, isMarks }: FleetLayout): RefObject<HTMLCanvasElement | null> {
  const canvas = useRef<HTMLCanvasElement>(null);
  const palette = usePalette(isMarks ? markLooks : healthLooks);
  const painting = useMemo(() => (layout && palette ? new Painting(layout, palette) : null), [layout, palette]);
  useLayoutEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context || painting === null) return;
    performance.mark('fleet-map:begin');
    painting.draw(context, cells);
    performance.measure('fleet-map', 'fleet-map:begin');
  }, [painting, cells]);
  return canvas;
}
