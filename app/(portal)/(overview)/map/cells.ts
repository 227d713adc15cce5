import { type ExtensionHealth, extensionHealths, healthLetters, rankOf } from '#server/domain/verdicts/words.ts';

/** Returns the health of a cell. The cell's value is an index into `extensionHealths`. */
export const healthAt = (cell: number): ExtensionHealth => extensionHealths[cell] ?? 'unknown';

/** Unpacks run-length-encoded letters into one byte per VM: the index of its letter in `letters`. */
export function unpackCells(packed: string, count: number, letters: string = healthLetters): Uint8Array {
  const cells = new Uint8Array(count);
  let at = 0;
  for (const [, letter = '', length] of packed.matchAll(/([a-z])(\d*)/g)) {
    const end = at + (length === '' ? 1 : Number(length));
    cells.fill(Math.max(0, letters.indexOf(letter)), at, end);
    at = end;
  }
  return cells;
}

/** Merges every `perCell` consecutive VMs into one cell with their worst value, which is the smallest. */
export function worstOf(cells: Uint8Array, perCell: number): Uint8Array {
  if (perCell === 1) return cells;
  const result = new Uint8Array(Math.ceil(cells.length / perCell));
  for (let index = 0; index < result.length; index += 1) {
    let worst = 255;
    const end = Math.min(cells.length, (index + 1) * perCell);
    for (let vm = index * perCell; vm < end; vm += 1) worst = Math.min(worst, cells[vm] ?? worst);
    result[index] = worst;
  }
  return result;
}

/** Returns the index, within its group, of the first VM that has the worst value in a cell. */
export function vmOfCell(cells: Uint8Array, cell: number, perCell: number): number {
  const begin = cell * perCell;
  const end = Math.min(cells.length, begin + perCell);
  let worst = begin;
  for (let vm = begin; vm < end; vm += 1) if ((cells[vm] ?? 0) < (cells[worst] ?? 0)) worst = vm;
  return worst;
}

/**
 * Returns the next or previous cell with a value below `calm`, by default the next unhealthy cell, continuing in the
 * other groups; null if there is none.
 */
export function nextUnhealthy(
  groups: readonly Uint8Array[],
  from: { group: number; cell: number },
  direction: 1 | -1,
  calm: number = rankOf('healthy'),
): { group: number; cell: number } | null {
  let { group, cell } = from;
  for (let left = groups.reduce((sum, cells) => sum + cells.length, 0); left > 0; left -= 1) {
    cell += direction;
    while (cell < 0 || cell >= (groups[group]?.length ?? 0)) {
      group = (group + direction + groups.length) % groups.length;
      cell = direction === 1 ? 0 : (groups[group]?.length ?? 0) - 1;
    }
    if ((groups[group]?.[cell] ?? calm) < calm) return { group, cell };
  }
  return null;
}
