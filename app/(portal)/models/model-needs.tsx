'use client';

import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Status } from '#app/_ui/status.tsx';
import type { StatusName } from '#app/_ui/status-icon.tsx';
import { healthOfNeed, type ModelNeed, placeHref } from './model-data.ts';

export interface ModelNeedsProps {
  model: string;
  needs: readonly ModelNeed[];
}

/** What needs attention in a model, in one line. The needs of machines open their list. */
export function ModelNeeds({ model, needs }: ModelNeedsProps) {
  const say = useNeed();
  return (
    <span className="inline-flex flex-wrap items-center gap-x-3 gap-y-0.5 align-middle">
      {needs.map((need) => (
        <Status key={say(need)} status={statusOfNeed(need)} className="text-12 whitespace-normal">
          {'count' in need ? (
            <Link
              href={placeHref({ model }, { health: [healthOfNeed(need)] })}
              prefetch={false}
              data-count={need.count}
              className="relative z-1 hover:underline pointer-coarse:inline-flex pointer-coarse:min-h-8 pointer-coarse:items-center"
            >
              {say(need)}
            </Link>
          ) : (
            say(need)
          )}
        </Status>
      ))}
    </span>
  );
}

/** The icon of a need. */
export function statusOfNeed(need: ModelNeed): StatusName {
  if (need.kind === 'health') return need.health === 'degraded' ? 'warning' : need.health;
  return need.kind === 'bootstrap' ? 'waiting' : need.kind === 'unknown' ? 'unknown' : 'progressing';
}

/** Returns a function that says a need in a few words. */
export function useNeed(): (need: ModelNeed) => string {
  const { t } = useTranslation('models');
  return (need) => {
    if (need.kind === 'health') return t(`need.${need.health}`, { count: need.count });
    return need.kind === 'unknown' ? t('need.unknown', { count: need.count }) : t(`need.${need.kind}`);
  };
}
