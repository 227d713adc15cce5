'use client';

import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { MapGrouping } from '../addresses.ts';
import { healthsShown } from './groups.ts';

/** Explains the shapes and colors of the map. */
export function Legend({ groupBy }: { groupBy: MapGrouping }) {
  const { t } = useTranslation('reports');
  return (
    <ul className="flex flex-wrap gap-x-3.5 gap-y-1 pt-2.5 text-12 text-ink-2">
      {healthsShown({ groupBy }).map((health) => (
        <li key={health} data-st={statusOfHealth[health]} className="inline-flex items-center gap-1.5">
          <svg aria-hidden="true" viewBox="0 0 10 10" className="size-2.5 shrink-0 text-st-map">
            {health === 'unresponsive' ? (
              <rect x="1.25" y="1.25" width="7.5" height="7.5" fill="none" stroke="currentColor" strokeWidth="2.5" />
            ) : health === 'unknown' ? (
              <rect x="2.5" y="2.5" width="5" height="5" fill="currentColor" />
            ) : (
              <rect width="10" height="10" rx="1.5" fill="currentColor" />
            )}
          </svg>
          {t(`health.${health}`)}
        </li>
      ))}
    </ul>
  );
}
