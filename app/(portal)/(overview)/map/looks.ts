import { statusOfHealth } from '#app/_lib/health.ts';
import type { StatusName } from '#app/_ui/status-icon.tsx';
import { type StepMark, stepMarks } from '#server/domain/rollout-rules/step-marks.ts';
import { type ExtensionHealth, extensionHealths } from '#server/domain/verdicts/words.ts';

/** How a cell is drawn: filled, as a small square in its middle, or as a frame. */
export interface Look {
  /** Name of the CSS variable with the color. */
  color: string;
  shape: 'full' | 'inset' | 'frame';
}

const shapes: Partial<Record<ExtensionHealth, Look['shape']>> = { unknown: 'inset', unresponsive: 'frame' };

/** The look of each health, in the order of `extensionHealths`. */
export const healthLooks: readonly Look[] = extensionHealths.map((health) => ({
  color: `--${statusOfHealth[health]}-map`,
  shape: shapes[health] ?? 'full',
}));

/** The look of each mark. VMs that are not members are pale, so that the members stand out. */
export const lookOfMark: Readonly<Record<StepMark, Look>> = {
  failed: { color: '--failed-map', shape: 'full' },
  reverted: { color: '--warning-map', shape: 'full' },
  inFlight: { color: '--progressing-map', shape: 'full' },
  soaking: { color: '--progressing-map', shape: 'frame' },
  parked: { color: '--unknown-map', shape: 'frame' },
  queued: { color: '--unknown-map', shape: 'inset' },
  succeeded: { color: '--healthy-map', shape: 'full' },
  exempt: { color: '--disabled-solid', shape: 'frame' },
  none: { color: '--disabled-map', shape: 'full' },
};

/** The look of each mark, in the order of `stepMarks`. */
export const markLooks: readonly Look[] = stepMarks.map((mark) => lookOfMark[mark]);

/** The icon of each mark in tiles and tables. */
export const statusOfMark: Readonly<Record<StepMark, StatusName>> = {
  failed: 'failed',
  reverted: 'warning',
  inFlight: 'progressing',
  soaking: 'progressing',
  parked: 'waiting',
  queued: 'waiting',
  succeeded: 'healthy',
  exempt: 'disabled',
  none: 'disabled',
};

/** From this mark on, a VM needs no attention. */
export const firstCalmMark = stepMarks.indexOf('queued');
