'use client';

import { HeartPulse } from 'lucide-react';
import dynamic from 'next/dynamic';
import { statusOfVerdict } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Countdown, DateTime, RelativeTime } from '#app/_ui/time.tsx';
import { MarkedText } from './message-line.tsx';
import type { Extension } from './vm-data.ts';

/**
 * Loaded on demand, because the strip uses the data of the timeline, which is loaded on demand too. The line has the
 * same height without the strip.
 */
const HeartbeatStrip = dynamic(() => import('./heartbeat-strip.tsx').then((module) => module.HeartbeatStrip), {
  ssr: false,
});

export interface HeartbeatFootProps extends Pick<Extension, 'name' | 'heartbeat' | 'deadlineAt'> {
  vmId: string;
  /** When the view was loaded. */
  at: Date;
}

/** The bottom of an extension's card: its heartbeat and, while it has a deadline, the deadline. */
export function HeartbeatFoot({ vmId, name, heartbeat, deadlineAt, at }: HeartbeatFootProps) {
  const { t } = useTranslation('reports');
  const { verdict, code, message, readAt } = heartbeat;
  return (
    <div className="mt-auto flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line-subtle px-4 pt-2 pb-[9px] text-12">
      {verdict === 'none' ? (
        <span className="flex items-center gap-1.5 text-ink-3">
          <HeartPulse aria-hidden className="size-3.5" />
          {t('heartbeat.none')}
        </span>
      ) : (
        <>
          <span data-st={statusOfVerdict[verdict]} className="flex items-center gap-1.5 text-st-text">
            <HeartPulse aria-hidden className="size-3.5" />
            {verdict === 'unknown' ? null : <span className="sr-only">{t('heartbeat.label')}: </span>}
            {t(`heartbeat.${verdict}`)}
          </span>
          <span className="min-w-0 text-ink-2 wrap-anywhere">
            {message ? <MarkedText message={message} /> : null}
            {code === null || code === 0 ? null : (
              <span className="ms-2 text-ink-3 tabular-nums">{t('card.code', { code })}</span>
            )}
          </span>
          {readAt === null ? null : (
            <span className="ms-auto flex min-w-0 flex-[1_1_8rem] items-center justify-end gap-3">
              <HeartbeatStrip vmId={vmId} name={name} heartbeat={heartbeat} />
              <RelativeTime value={new Date(readAt)} className="min-w-14 text-end text-ink-3 tabular-nums" />
            </span>
          )}
        </>
      )}
      {deadlineAt === null ? null : new Date(deadlineAt) <= at ? (
        <span className="w-full font-medium text-failed-text tabular-nums">
          {t('card.deadline.past')} <DateTime value={new Date(deadlineAt)} style="time" />
        </span>
      ) : (
        <span className="w-full text-ink-2 tabular-nums">
          {t('card.deadline')} <DateTime value={new Date(deadlineAt)} style="time" />
          {', '}
          {t('card.deadline.in')} <Countdown value={new Date(deadlineAt)} className="font-medium text-ink" />
        </span>
      )}
    </div>
  );
}
