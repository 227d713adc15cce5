/** What places values in a drawing. */
export interface PlotScale {
  width: number;
  height: number;
  /** The values at the upper and lower edge. */
  top: number;
  bottom: number;
  times: readonly number[];
}

/**
 * Returns the values at the edges of a drawing: zero, every value, and some space above and, for negative values,
 * below.
 */
export function rangeOf(drawn: readonly (readonly number[])[]): { top: number; bottom: number } {
  const values = drawn.flat();
  const [high, low] = [Math.max(0, ...values), Math.min(0, ...values)];
  return { top: high * 1.1 || 1, bottom: low * 1.1 };
}

const xOf = ({ width, times }: PlotScale, index: number): number => {
  const [from = 0, to = 0] = [times[0], times.at(-1)];
  return (((times[index] ?? to) - from) / Math.max(1, to - from)) * width;
};
const yOf = ({ height, top, bottom }: PlotScale, value: number): number =>
  height - ((value - bottom) / (top - bottom)) * height;

const rounded = (value: number): number => Math.round(value * 100) / 100;

/** Returns a path that keeps each value until the next one. */
export const lineOf = (scale: PlotScale, values: readonly number[]): string =>
  values
    .map((value, index) => {
      const y = rounded(yOf(scale, value));
      return index === 0 ? `M0 ${y}` : `H${rounded(xOf(scale, index))}V${y}`;
    })
    .join('');

/** Returns the path of the area between two such lines. */
export function areaOf(scale: PlotScale, low: readonly number[], high: readonly number[]): string {
  const back = low
    .map((value, index) => {
      const y = rounded(yOf(scale, value));
      return `V${y}H${rounded(xOf(scale, index))}`;
    })
    .toReversed()
    .join('');
  return `${lineOf(scale, high)}${back}Z`;
}
