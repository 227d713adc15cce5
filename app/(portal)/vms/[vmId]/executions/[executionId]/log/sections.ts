import type { Fold } from './folds.ts';

/** Number of rows in a section of a long log. A list cannot have more, because browsers limit element height. */
export const sectionRows = 500_000;

export const sectionOf = (row: number): number => Math.floor(row / sectionRows);

/** Returns the folds within a section, and folds for the rows before and after the section. */
export function foldsInSection(section: number, total: number, folds: readonly Fold[]): Fold[] {
  const [first, end] = [section * sectionRows, Math.min(total, (section + 1) * sectionRows)];
  const inside = folds
    .map(({ from, to }) => ({ from: Math.max(from, first), to: Math.min(to, end) }))
    .filter(({ from, to }) => to > from);
  return [{ from: 0, to: first }, ...inside, { from: end, to: total }].filter(({ from, to }) => to > from);
}
