'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Status } from '#app/_ui/status.tsx';
import type { StatusName } from '#app/_ui/status-icon.tsx';
import type { ModelNeed } from './model-data.ts';

/** What needs somebody in a model, in one line. */
export function ModelNeeds({ needs }: { needs: readonly ModelNeed[] }) {
  const say = useNeed();
  return (
    <span className="inline-flex flex-wrap items-center gap-x-3 gap-y-0.5">
      {needs.map((need) => (
        <Status key={say(need)} status={statusOfNeed(need)} className="text-12 whitespace-normal">
          {say(need)}
        </Status>
      ))}
    </span>
  );
}

/** The icon of a need. */
export function statusOfNeed(need: ModelNeed): StatusName {
  if (need.kind === 'health') return need.health === 'degraded' ? 'warning' : need.health;
  return need.kind === 'bootstrap' ? 'waiting' : need.kind === 'enroll' ? 'unknown' : 'progressing';
}

/** Returns a function that says a need in a few words. */
export function useNeed(): (need: ModelNeed) => string {
  const { t } = useTranslation('models');
  return (need) => {
    if (need.kind === 'health') return t(`need.${need.health}`, { count: need.count });
    return need.kind === 'enroll' ? t('need.enroll', { count: need.count }) : t(`need.${need.kind}`);
  };
}
