import type { CellShape } from '../../rollouts/step-looks.ts';
import type { Size } from './place-cells.ts';

/** Whether a point of a cell belongs to a shape. The cell reaches from 0 to 1 in both directions. */
type Drawing = (x: number, y: number) => boolean;

const within = (value: number, from: number, to: number): boolean => value > from && value < to;
const isMiddle = (value: number): boolean => within(value, 0.25, 0.75);
const isCore = (value: number): boolean => within(value, 1 / 3, 2 / 3);

/** The shapes as far as a few pixels can show them: a cell is too small for the cross of a failure. */
const drawings: Readonly<Record<CellShape, Drawing>> = {
  full: () => true,
  cross: () => true,
  triangle: (x, y) => Math.abs(x - 0.5) <= y / 2,
  corner: (x, y) => x + y <= 1,
  frame: (x, y) => !(isMiddle(x) && isMiddle(y)),
  inset: (x, y) => isMiddle(x) && isMiddle(y),
  dot: (x, y) => isCore(x) && isCore(y),
  bar: (_, y) => isCore(y),
  pole: (x) => isCore(x),
  diamond: (x, y) => Math.abs(x - 0.5) + Math.abs(y - 0.5) <= 0.5,
};

/**
 * Returns which pixels of a cell a shape fills, row by row. A shape of which too few pixels are left is filled
 * completely, so that every VM can be seen.
 */
export function maskOf(shape: CellShape, { x: width, y: height }: Size): Uint8Array {
  const draws = drawings[shape];
  const mask = Uint8Array.from({ length: width * height }, (_, at) =>
    draws(((at % width) + 0.5) / width, (Math.floor(at / width) + 0.5) / height) ? 1 : 0,
  );
  return mask.includes(1) ? mask : mask.fill(1);
}
