import type { Look } from './looks.ts';
import type { CellLayout } from './place-cells.ts';

/** The looks of cells by their values, with the color of each as one pixel of image data (four bytes). */
export interface Palette {
  looks: readonly Look[];
  colors: Uint32Array;
}

/** Reads the colors of the current theme from its CSS variables. */
export function readPalette(element: Element, looks: readonly Look[]): Palette {
  const style = getComputedStyle(element);
  const canvas = new OffscreenCanvas(1, 1);
  const pen = canvas.getContext('2d', { willReadFrequently: true });
  const colors = Uint32Array.from(looks, ({ color }) => {
    if (pen === null) return 0;
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = style.getPropertyValue(color).trim();
    pen.fillRect(0, 0, 1, 1);
    return new Uint32Array(pen.getImageData(0, 0, 1, 1).data.buffer)[0] ?? 0;
  });
  return { looks, colors };
}

const nothing = new Uint8Array();
/** Above this number of changed cells, drawing the whole map is faster. */
const putSingly = 2_000;

/** Keeps the fleet as image data, so that only changed cells are drawn again. */
export class Painting {
  readonly #layout: CellLayout;
  readonly #palette: Palette;
  readonly #pixels: ImageData;
  readonly #words: Uint32Array;
  #shown: Uint8Array[] = [];

  constructor(layout: CellLayout, palette: Palette) {
    this.#layout = layout;
    this.#palette = palette;
    this.#pixels = new ImageData(Math.max(1, layout.width), Math.max(1, layout.height));
    this.#words = new Uint32Array(this.#pixels.data.buffer);
  }

  /** Draws the cells that changed. Returns their number. */
  draw(pen: CanvasRenderingContext2D, groups: readonly Uint8Array[]): number {
    const { blocks, pitch, cell: size } = this.#layout;
    // Left and top of the changed cells, as long as they are few enough to be drawn one by one.
    const few: number[] = [];
    let changed = 0;
    for (const [group, { x: left, y: top, rows }] of blocks.entries()) {
      const cells = groups[group] ?? nothing;
      const before = this.#shown[group] ?? nothing;
      for (let cell = 0, x = left, row = 0; cell < cells.length; cell += 1, row += 1) {
        if (row === rows) {
          row = 0;
          x += pitch.x;
        }
        const value = cells[cell] ?? 0;
        if (before[cell] === value) continue;
        const y = top + row * pitch.y;
        this.#cell(x, y, value, before !== nothing);
        changed += 1;
        if (changed <= putSingly) few.push(x, y);
      }
    }
    this.#shown = groups.map((cells) => cells.slice());
    if (changed > putSingly) pen.putImageData(this.#pixels, 0, 0);
    else
      for (let at = 0; at < few.length; at += 2)
        pen.putImageData(this.#pixels, 0, 0, few[at] ?? 0, few[at + 1] ?? 0, size.x, size.y);
    return changed;
  }

  #cell(x: number, y: number, value: number, clear: boolean): void {
    const { cell } = this.#layout;
    const color = this.#palette.colors[value] ?? 0;
    const shape = this.#palette.looks[value]?.shape;
    if (shape === 'inset') {
      if (clear) this.#fill(x, y, cell.x, cell.y, 0);
      const inset = Math.floor(Math.min(cell.x, cell.y) / 4) || (Math.min(cell.x, cell.y) > 2 ? 1 : 0);
      this.#fill(x + inset, y + inset, cell.x - 2 * inset, cell.y - 2 * inset, color);
      return;
    }
    this.#fill(x, y, cell.x, cell.y, color);
    if (shape !== 'frame') return;
    const edge = Math.max(1, Math.round(Math.min(cell.x, cell.y) / 4));
    this.#fill(x + edge, y + edge, cell.x - 2 * edge, cell.y - 2 * edge, 0);
  }

  /** Fills pixel by pixel, which is faster than `Uint32Array.fill` for so few pixels. */
  #fill(x: number, y: number, width: number, height: number, color: number): void {
    const line = this.#pixels.width;
    const words = this.#words;
    for (let row = y; row < y + height; row += 1) {
      const end = row * line + x + width;
      for (let at = row * line + x; at < end; at += 1) words[at] = color;
    }
  }
}
