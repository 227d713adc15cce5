import type { Look } from '../../rollouts/step-looks.ts';
import { maskOf } from './cell-masks.ts';
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
  /** Which pixels of a cell each value fills; null for all. */
  readonly #masks: readonly (Uint8Array | null)[];
  #shown: Uint8Array[] = [];

  constructor(layout: CellLayout, palette: Palette) {
    this.#layout = layout;
    this.#palette = palette;
    this.#pixels = new ImageData(Math.max(1, layout.width), Math.max(1, layout.height));
    this.#words = new Uint32Array(this.#pixels.data.buffer);
    this.#masks = palette.looks.map(({ shape }) => (shape === 'full' ? null : maskOf(shape, layout.cell)));
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
        this.#cell(x, y, value);
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

  /** Fills pixel by pixel, which is faster than `Uint32Array.fill` for so few pixels. */
  #cell(left: number, top: number, value: number): void {
    const { x: width, y: height } = this.#layout.cell;
    const color = this.#palette.colors[value] ?? 0;
    const mask = this.#masks[value] ?? null;
    const words = this.#words;
    for (let row = 0, at = 0; row < height; row += 1) {
      const begin = (top + row) * this.#pixels.width + left;
      for (let word = begin; word < begin + width; word += 1, at += 1) {
        words[word] = mask === null || mask[at] === 1 ? color : 0;
      }
    }
  }
}
