import { statusOfHealth } from '#app/_lib/health.ts';
import type { StatusName } from '#app/_ui/status-icon.tsx';
import { countsOfMark, type StepMark, stepMarks } from '#server/domain/rollout-rules/step-marks.ts';
import { type ExtensionHealth, extensionHealths } from '#server/domain/verdicts/words.ts';
import { statusOfStep } from '../../rollouts/rollout-data.ts';
import { type Look, lookOfMark } from '../../rollouts/step-looks.ts';

const shapes: Partial<Record<ExtensionHealth, Look['shape']>> = { unknown: 'inset', unresponsive: 'frame' };

/** The look of each health, in the order of `extensionHealths`. */
export const healthLooks: readonly Look[] = extensionHealths.map((health) => ({
  color: `--${statusOfHealth[health]}-map`,
  shape: shapes[health] ?? 'full',
}));

/** The look of each mark, in the order of `stepMarks`. */
export const markLooks: readonly Look[] = stepMarks.map(lookOfMark);

/** Returns the icon of a mark in tiles and tables: that of the first state that it includes. */
export function statusOfMark(mark: StepMark): StatusName {
  const [state] = countsOfMark[mark];
  return state === undefined ? 'disabled' : statusOfStep[state];
}

/** From this mark on, a VM needs no attention. */
export const firstCalmMark = stepMarks.indexOf('queued');
