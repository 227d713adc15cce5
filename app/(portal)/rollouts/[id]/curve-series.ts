import type { CurvePoint } from '#server/domain/rollouts/index.ts';

const share = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

/** The lines of both charts, one value for each point. */
export interface CurveSeries {
  times: number[];
  /** Share of the decided VMs that failed, and of the unchanged VMs of resolved pairs. */
  changed: number[];
  unchanged: number[];
  /** The running sum that the comparison tests, the sum at which it halts, and the sums that it does not rule out. */
  difference: number[];
  haltsAt: number[];
  low: number[];
  high: number[];
}

/** Returns the lines of a ring's curves. */
export function curveSeries(points: readonly CurvePoint[]): CurveSeries {
  // A share p of the pairs that count, as a sum: how often the changed VM would be first, minus how often not.
  const sumOf = (p: number, { changedFirst, controlFirst }: CurvePoint) => (changedFirst + controlFirst) * (2 * p - 1);
  return {
    times: points.map(({ at }) => Date.parse(at)),
    changed: points.map(({ failed, decided }) => share(failed, decided)),
    unchanged: points.map(({ controlFirst, both, pairs }) => share(controlFirst + both, pairs)),
    difference: points.map(({ difference }) => difference),
    haltsAt: points.map(({ haltsAt }) => haltsAt),
    low: points.map((point) => sumOf(point.low, point)),
    high: points.map((point) => sumOf(point.high, point)),
  };
}
