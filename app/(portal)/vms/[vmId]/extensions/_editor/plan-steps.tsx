'use client';

import { Pause } from 'lucide-react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import type { VmFacts } from '../../vm-data.ts';
import type { DraftPlan } from './use-plan.ts';

export interface PlanStepsProps {
  plan: DraftPlan;
  stale: boolean;
  /** The hold that delays the change; null if there is none. */
  hold: VmFacts['hold'];
}

/** The commands of a plan, a hold that delays them, other extensions that run again or have to wait, and warnings. */
export function PlanSteps({ plan, stale, hold }: PlanStepsProps) {
  const { t } = useTranslation('editor');
  const { steps, others, warnings, extensions } = plan;
  const waiting = others.filter(({ waits }) => waits).map(({ name }) => name);
  const again = others.filter(({ waits }) => !waits).map(({ name }) => name);
  if (steps.length === 0 && warnings.length === 0 && hold === null) return null;
  return (
    <section
      aria-label={t('plan.steps')}
      className={cn('border-t border-line-subtle px-4 pt-3 pb-3.5', stale && 'text-ink-3')}
    >
      {hold === null ? null : <HeldNote hold={hold} />}
      {steps.length === 0 ? null : (
        <>
          <h3 className="text-12 font-medium">{t('plan.steps')}</h3>
          <ol className="mt-1.5 grid gap-1">
            {steps.map(({ extension, command, version, seconds }, index) => (
              <li
                key={`${extension}${command}${version}`}
                className="grid grid-cols-[18px_minmax(0,1fr)_auto] items-baseline gap-x-2"
              >
                <span aria-hidden className="text-12 text-ink-3 tabular-nums">
                  {index + 1}
                </span>
                <span translate="no" className="mono min-w-0 wrap-anywhere">
                  <span className="font-medium">{command}</span> <span className="text-ink-3">{version}</span>
                  {extensions.length > 1 ? <span className="text-ink-2"> {extension}</span> : null}
                </span>
                <span className="text-12 text-ink-3 tabular-nums">{t('plan.limit', { seconds })}</span>
              </li>
            ))}
          </ol>
          {waiting.length === 0 ? null : (
            <p className="mt-2 text-12 text-ink-2">
              {t('plan.waiting', { count: waiting.length, names: waiting.join(', ') })}
            </p>
          )}
          {again.length === 0 ? null : (
            <p className="mt-1 text-12 text-ink-3">
              {t('plan.again', { count: again.length, names: again.join(', ') })}
            </p>
          )}
        </>
      )}
      {warnings.length === 0 ? null : (
        <ul className={cn('grid gap-1', steps.length > 0 && 'mt-2.5')}>
          {warnings.map(({ code, path, message }) => (
            <li key={code + path + message} className="flex items-baseline gap-1.5 text-12 text-ink-2">
              <StatusIcon status="warning" className="relative top-0.5 shrink-0 text-warning-text" />
              <span className="min-w-0 wrap-anywhere">{message}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function HeldNote({ hold: { reason, until, heldBy } }: { hold: NonNullable<VmFacts['hold']> }) {
  const { t } = useTranslation('editor');
  const tags = {
    reason: <span lang="" translate="no" className="wrap-anywhere" />,
    who: <span translate="no" />,
    ...(until !== null && { until: <DateTime value={new Date(until)} className="whitespace-nowrap" /> }),
  };
  return (
    <div className="mb-2.5 flex items-start gap-1.5 text-12 text-ink">
      <Pause aria-hidden className="mt-0.5 size-3.5 shrink-0 text-ink-2" />
      <div className="min-w-0">
        <p className="font-medium text-pretty">
          <Trans text={t(until === null ? 'held' : 'held.until')} tags={tags} />
        </p>
        {reason === null ? null : (
          <p className="text-pretty text-ink-2">
            <Trans text={t('held.reason', { reason, who: heldBy })} tags={tags} />
          </p>
        )}
      </div>
    </div>
  );
}
