import { countsOfMark, type StepMark } from '#server/domain/rollout-rules/step-marks.ts';
import type { MemberCount } from '#server/domain/rollout-rules/words.ts';

/** The shapes of cells, in a square of 8 units. They differ, so that color is not needed. */
export const pathOfShape = {
  full: 'M0 0h8v8H0z',
  cross:
    'M0 0h8v8H0zM2 3.3 3.3 4.600 2 6 3 7 4.300 5.700 5.600 7 6.600 6 5.300 4.600 6.600 3.300 5.600 2.300 4.300 3.600 3 2.300z',
  triangle: 'M4 0 8 8H0z',
  corner: 'M0 0h8L0 8z',
  frame: 'M0 0h8v8H0zM2 2v4h4V2z',
  inset: 'M2 2h4v4H2z',
  dot: 'M3 3h2v2H3z',
  bar: 'M0 3h8v2H0z',
  pole: 'M3 0h2v8H3z',
  diamond: 'M4 0 8 4 4 8 0 4z',
} as const;
export type CellShape = keyof typeof pathOfShape;

/** How a cell is drawn. */
export interface Look {
  /** Name of the CSS variable with the color. */
  color: string;
  shape: CellShape;
}

/** The look of a member's state, on the rollout's page and on the fleet map. */
export const lookOfState: Readonly<Record<MemberCount, Look>> = {
  succeeded: { color: '--healthy-map', shape: 'full' },
  failed: { color: '--failed-map', shape: 'cross' },
  reverted: { color: '--warning-map', shape: 'triangle' },
  inFlight: { color: '--progressing-map', shape: 'full' },
  soaking: { color: '--progressing-map', shape: 'corner' },
  parked: { color: '--unknown-map', shape: 'frame' },
  overtaken: { color: '--unknown-map', shape: 'bar' },
  skipped: { color: '--unknown-map', shape: 'bar' },
  gone: { color: '--disabled-solid', shape: 'pole' },
  unreached: { color: '--disabled-solid', shape: 'diamond' },
  queued: { color: '--disabled-solid', shape: 'dot' },
};

/** VMs that are not members are pale, so that the members stand out. */
const stranger: Look = { color: '--disabled-map', shape: 'full' };

/** Returns the look of a mark of the fleet map: that of the first state that it includes. */
export function lookOfMark(mark: StepMark): Look {
  const [state] = countsOfMark[mark];
  return state === undefined ? stranger : lookOfState[state];
}
