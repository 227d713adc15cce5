import type { MapStep } from './use-map-cursor.ts';

/** The numbers of VMs to show and the space for them. */
export interface LayoutInput {
  /** Number of VMs in each group. */
  counts: readonly number[];
  /** Available space in device pixels, because cells are aligned to whole device pixels. */
  width: number;
  height: number;
  /** Device pixels per CSS pixel. */
  ratio: number;
}

/** Horizontal and vertical size in device pixels. */
export interface Size {
  x: number;
  y: number;
}

/**
 * The cells of a group, arranged column by column. Positions and the width are in device pixels; positions are relative
 * to the map's upper left corner.
 */
export interface Block {
  x: number;
  /** Top of the first cell; the group's header is above it. */
  y: number;
  columns: number;
  rows: number;
  /** Number of cells, each for `perCell` VMs. */
  cells: number;
  /** Width available to the group. */
  width: number;
}

export interface CellLayout {
  blocks: Block[];
  /** Distance from one cell to the next, across and down. */
  pitch: Size;
  /** Size of a cell without the gap. */
  cell: Size;
  /** VMs per cell; more than 1 if there is not enough space for a cell per VM. */
  perCell: number;
  width: number;
  height: number;
}

/** Distances from one cell to the next, in CSS pixels. */
const pitches = { largest: 12, smallest: 3 };
export const headHeight = 22;
const gapBetween = 16;
const gapBelow = 12;
/** Minimum width of a header with name and number, in CSS pixels. */
const narrowest = 108;

/**
 * Finds the largest cells that fit. Groups keep their order and are arranged in lines. The groups of a line have the
 * same maximum number of rows; their widths depend on how many cells they have. If not even the smallest cells fit, a
 * cell shows several VMs.
 */
export function layOutCells({ counts, width, height, ratio }: LayoutInput): CellLayout {
  const scale = (css: number): number => Math.round(css * ratio);
  const smallest = Math.max(2, scale(pitches.smallest));
  for (let pitch = scale(pitches.largest); pitch >= smallest; pitch -= 1) {
    // For small sizes, also tries cells that are one pixel wider than high, because the next smaller square would leave
    // much space empty.
    for (const x of pitch * 2 > smallest * 3 ? [pitch] : [pitch + 1, pitch]) {
      const layout = arrange(counts, { pitch: { x, y: pitch }, perCell: 1, width, ratio });
      if (layout.height <= height) return layout;
    }
  }
  const square = { x: smallest, y: smallest };
  let perCell = 2;
  let layout = arrange(counts, { pitch: square, perCell, width, ratio });
  const most = Math.max(1, ...counts);
  while (layout.height > height && perCell < most) {
    perCell = Math.min(most, Math.ceil(perCell * 1.25));
    layout = arrange(counts, { pitch: square, perCell, width, ratio });
  }
  return layout;
}

interface Measure {
  pitch: Size;
  perCell: number;
  width: number;
  ratio: number;
}

/** Returns the arrangement with the smallest height for cells of this size. */
function arrange(counts: readonly number[], measure: Measure): CellLayout {
  const cells = counts.map((count) => Math.ceil(count / measure.perCell));
  let best: CellLayout | null = null;
  for (let lines = 1; lines <= Math.max(1, cells.length); lines += 1) {
    const layout = place(divide(cells, lines), cells, measure);
    if (layout !== null && (best === null || layout.height < best.height)) best = layout;
  }
  return best ?? { blocks: [], pitch: measure.pitch, cell: measure.pitch, perCell: 1, width: measure.width, height: 0 };
}

/** Divides groups, in order, into lines with about the same number of cells. Returns the number of groups per line. */
function divide(cells: readonly number[], lines: number): number[] {
  const all = cells.reduce((sum, count) => sum + count, 0);
  const lengths: number[] = [];
  let index = 0;
  let before = 0;
  for (let line = 1; line <= lines; line += 1) {
    const begin = index;
    const wanted = (all * line) / lines;
    const lastStart = cells.length - (lines - line);
    while (index < lastStart) {
      const next = before + (cells[index] ?? 0);
      // Ends the line before this group if the number of cells so far is closer to the target without the group.
      if (index > begin && line < lines && next - wanted > wanted - before) break;
      before = next;
      index += 1;
    }
    lengths.push(index - begin);
  }
  return lengths;
}

function place(lengths: readonly number[], cells: readonly number[], measure: Measure): CellLayout | null {
  const { pitch, perCell, width, ratio } = measure;
  const scale = (css: number): number => Math.round(css * ratio);
  const gap = scale(gapBetween);
  const blocks: Block[] = [];
  let y = 0;
  let begin = 0;
  for (const length of lengths) {
    const line = cells.slice(begin, begin + length);
    begin += length;
    const columns = Math.floor((width - gap * (line.length - 1)) / pitch.x);
    const least = line.length === 1 ? 1 : Math.ceil(scale(narrowest) / pitch.x);
    const rows = fewestRows(line, columns, least);
    if (rows === null) return null;
    y += scale(headHeight);
    let x = 0;
    for (const count of line) {
      const taken = Math.max(least, Math.ceil(count / rows));
      const own = line.length === 1 ? width : taken * pitch.x;
      blocks.push({
        x,
        y,
        columns: Math.ceil(count / rows),
        rows: Math.min(rows, Math.max(1, count)),
        cells: count,
        width: own,
      });
      x += own + gap;
    }
    y += rows * pitch.y + scale(gapBelow);
  }
  const gapInside = Math.max(1, Math.round(ratio));
  const height = Math.max(0, y - scale(gapBelow));
  const cell = { x: Math.max(1, pitch.x - gapInside), y: Math.max(1, pitch.y - gapInside) };
  return { blocks, pitch, cell, perCell, width, height };
}

/**
 * Returns the smallest number of rows in which these groups fit side by side; null if even their headers are too wide.
 */
function fewestRows(line: readonly number[], columns: number, least: number): number | null {
  const fits = (rows: number): boolean =>
    line.reduce((sum, count) => sum + Math.max(least, Math.ceil(count / rows)), 0) <= columns;
  let high = Math.max(1, ...line);
  if (!fits(high)) return null;
  let low = 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fits(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The indexes of a group and of a cell in it. */
export interface CellPlace {
  group: number;
  cell: number;
}

/** Returns the cell at a device pixel, which may be in the gap next to the cell; null if there is none. */
export function cellAt(layout: CellLayout, x: number, y: number): CellPlace | null {
  for (const [group, block] of layout.blocks.entries()) {
    const column = Math.floor((x - block.x) / layout.pitch.x);
    const row = Math.floor((y - block.y) / layout.pitch.y);
    if (column < 0 || column >= block.columns || row < 0 || row >= block.rows) continue;
    const cell = column * block.rows + row;
    return cell < block.cells ? { group, cell } : null;
  }
  return null;
}

/** Returns the upper left corner of a cell, in device pixels. */
export function cornerOf(layout: CellLayout, { group, cell }: CellPlace): { x: number; y: number } {
  const block = layout.blocks[group];
  if (block === undefined) return { x: 0, y: 0 };
  return {
    x: block.x + Math.floor(cell / block.rows) * layout.pitch.x,
    y: block.y + (cell % block.rows) * layout.pitch.y,
  };
}

/**
 * Returns the cell that a key leads to. Beyond the edge of a group, the key leads to the neighboring group; left and
 * right keep the row if possible.
 */
export function step(layout: CellLayout, from: CellPlace, by: MapStep): CellPlace {
  const block = layout.blocks[from.group];
  if (block === undefined) return from;
  const other = (group: number, cellIn: (block: Block) => number): CellPlace => {
    const next = layout.blocks[group];
    return next === undefined ? from : { group, cell: Math.max(0, Math.min(next.cells - 1, cellIn(next))) };
  };
  const row = from.cell % block.rows;
  switch (by) {
    case 'up':
      return from.cell > 0 ? { ...from, cell: from.cell - 1 } : other(from.group - 1, ({ cells }) => cells - 1);
    case 'down':
      return from.cell < block.cells - 1 ? { ...from, cell: from.cell + 1 } : other(from.group + 1, () => 0);
    case 'left':
      if (from.cell >= block.rows) return { ...from, cell: from.cell - block.rows };
      return other(from.group - 1, ({ columns, rows }) => (columns - 1) * rows + Math.min(row, rows - 1));
    case 'right':
      if (from.cell + block.rows < block.cells) return { ...from, cell: from.cell + block.rows };
      return other(from.group + 1, ({ rows }) => Math.min(row, rows - 1));
    case 'first':
      return { ...from, cell: 0 };
    case 'last':
      return { ...from, cell: block.cells - 1 };
    case 'previousGroup':
      return other(from.group - 1, () => 0);
    case 'nextGroup':
      return other(from.group + 1, () => 0);
  }
}
