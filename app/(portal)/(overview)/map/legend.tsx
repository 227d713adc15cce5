'use client';

import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { stepMarks } from '#server/domain/rollout-rules/step-marks.ts';
import { type Look, lookOfMark, pathOfShape } from '../../rollouts/step-looks.ts';
import type { MapGrouping } from '../addresses.ts';
import { healthsShown } from './groups.ts';
import { healthLooks } from './looks.ts';

export interface LegendProps {
  groupBy: MapGrouping;
  /** Whether the map shows the states of a rollout; otherwise, it shows health. */
  isMarks: boolean;
}

/** Explains the shapes and colors of the map. */
export function Legend({ groupBy, isMarks }: LegendProps) {
  const { t } = useTranslation(['reports', 'overview']);
  const healths = healthsShown({ groupBy });
  return (
    <ul className="flex flex-wrap gap-x-3.5 gap-y-1 pt-2.5 text-12 text-ink-2">
      {isMarks
        ? stepMarks.map((mark) => <Entry key={mark} look={lookOfMark(mark)} word={t(`overview:mark.${mark}`)} />)
        : healths.map((health) => {
            const look = healthLooks.find(({ color }) => color === `--${statusOfHealth[health]}-map`);
            return <Entry key={health} look={look} word={t(`reports:health.${health}`)} />;
          })}
    </ul>
  );
}

function Entry({ look, word }: { look: Look | undefined; word: string }) {
  return (
    <li className="inline-flex items-center gap-1.5">
      {look === undefined ? null : (
        <svg aria-hidden="true" viewBox="0 0 8 8" className="size-2.5 shrink-0">
          <path d={pathOfShape[look.shape]} fill={`var(${look.color})`} fillRule="evenodd" />
        </svg>
      )}
      {word}
    </li>
  );
}
