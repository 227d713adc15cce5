'use client';

import { useId } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card } from '#app/_ui/card.tsx';
import { StatusIcon, type StatusName } from '#app/_ui/status-icon.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { type StageStep, stageSteps } from '../stage-steps.ts';
import type { ShownUnitDetails } from '../unit-data.ts';

const statusOfStep: Readonly<Record<StageStep['state'], StatusName>> = {
  done: 'healthy',
  now: 'progressing',
  next: 'waiting',
};

/** The stages of a unit’s life, with the times of those that are known. */
export function StageCard({ unit }: { unit: ShownUnitDetails }) {
  const { t } = useTranslation('services');
  const id = useId();
  return (
    <Card aria-labelledby={id} className="flex flex-wrap items-start gap-x-6 gap-y-2 px-4 py-3">
      <h2 id={id} className="text-13 font-semibold sm:w-16">
        {t('unit.stage.title')}
      </h2>
      <ol className="grid flex-1 grid-cols-[repeat(auto-fit,minmax(8rem,1fr))] gap-x-4 gap-y-2">
        {stageSteps(unit).map(({ stage, state, at }) => (
          <li key={stage} className="flex min-w-0 gap-2">
            <StatusIcon status={statusOfStep[state]} className="mt-[3px]" />
            <div>
              <span className={state === 'now' ? 'font-semibold' : state === 'next' ? 'text-ink-3' : undefined}>
                {t(`unit.stage.${stage}`)}
              </span>
              <span className="sr-only">, {t(`unit.stage.state.${state}`)}</span>
              {at === null ? null : (
                <span className="block text-12 text-ink-2">
                  <DateTime value={new Date(at)} />
                </span>
              )}
            </div>
          </li>
        ))}
      </ol>
    </Card>
  );
}
