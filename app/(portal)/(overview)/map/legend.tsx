'use client';

import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { stepMarks } from '#server/domain/rollout-rules/step-marks.ts';
import type { MapGrouping } from '../addresses.ts';
import { healthsShown } from './groups.ts';
import { healthLooks, type Look, lookOfMark } from './looks.ts';

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
        ? stepMarks.map((mark) => <Entry key={mark} look={lookOfMark[mark]} word={t(`overview:mark.${mark}`)} />)
        : healths.map((health) => {
            const look = healthLooks.find(({ color }) => color === `--${statusOfHealth[health]}-map`);
            return <Entry key={health} look={look} word={t(`reports:health.${health}`)} />;
          })}
    </ul>
  );
}

function Entry({ look, word }: { look: Look | undefined; word: string }) {
  const color = `var(${look?.color})`;
  return (
    <li className="inline-flex items-center gap-1.5">
      <svg aria-hidden="true" viewBox="0 0 10 10" className="size-2.5 shrink-0">
        {look?.shape === 'frame' ? (
          <rect x="1.25" y="1.25" width="7.5" height="7.5" fill="none" stroke={color} strokeWidth="2.5" />
        ) : look?.shape === 'inset' ? (
          <rect x="2.5" y="2.5" width="5" height="5" fill={color} />
        ) : (
          <rect width="10" height="10" rx="1.5" fill={color} />
        )}
      </svg>
      {word}
    </li>
  );
}
