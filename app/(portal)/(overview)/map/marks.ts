import type { TFunction } from 'i18next';
import { type StepMark, stepMarks } from '#server/domain/rollout-rules/step-marks.ts';
import type { CellPlace } from './place-cells.ts';
import type { MapStates } from './use-rollout-map.ts';

/** Returns the mark of a cell. The cell's value is an index into `stepMarks`. */
export const markAt = (value: number | undefined): StepMark => stepMarks[value ?? -1] ?? 'none';

/** Returns how many of these VMs have a mark. */
export function countMark(values: Uint8Array, mark: StepMark): number {
  const wanted = stepMarks.indexOf(mark);
  return values.reduce((sum, value) => (value === wanted ? sum + 1 : sum), 0);
}

/** Returns the rollout's name and the state that a cell shows, for a sentence. */
export function markWords(
  t: TFunction<'overview'>,
  { rollout }: Pick<MapStates, 'rollout'>,
  { cells }: { cells: readonly Uint8Array[] },
  { group, cell }: CellPlace,
): { rollout: string; state: string } {
  return { rollout: rollout.name, state: t(`mark.${markAt(cells[group]?.[cell])}`) };
}
