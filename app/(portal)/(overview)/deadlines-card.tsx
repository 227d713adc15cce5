'use client';

import { useQuery } from '@tanstack/react-query';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import { vmsAddress } from '#app/_lib/vms-address.ts';
import { Card } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { Countdown, Elapsed } from '#app/_ui/time.tsx';
import type { OverviewAnswers } from './answers.ts';
import { Part } from './part.tsx';

/** The number of VMs past a deadline, the most overdue VMs (at most three), and a countdown to the next deadline. */
export function DeadlinesCard({ first }: { first: OverviewAnswers['deadlines'] | undefined }) {
  const { t } = useTranslation('overview');
  const trpc = useTRPC();
  const format = useFormat();
  const deadlines = useQuery({ ...trpc.overview.deadlines.queryOptions(), initialData: first, enabled: false });
  useThrottledReload({ queryKey: trpc.overview.deadlines.queryKey(), refetch: deadlines.refetch, agesMs: 5_000 });
  return (
    <Card aria-label={t('deadlines')}>
      <Part query={deadlines} failed={t('deadlines.failed')}>
        {({ past, overdue, next }) => (
          <div className="flex items-start gap-3 px-4 py-3">
            <span aria-hidden className="min-w-5 text-26 font-semibold tracking-tight tabular-nums">
              {format.number(past)}
            </span>
            <div className="min-w-0 flex-1">
              <h2 className="text-13 font-medium">
                <Link
                  href={vmsAddress({ overdue: ['yes'] })}
                  prefetch={false}
                  data-count={past}
                  className="inline-flex min-h-6 items-center rounded-xs hover:underline"
                >
                  <span className="sr-only">{format.number(past)} </span>
                  {t('deadlines.past', { count: past })}
                </Link>
              </h2>
              {overdue.length > 0 ? (
                <ul className="grid gap-0.5 py-0.5">
                  {overdue.map(({ vmId, vm, extension, at }) => (
                    <li key={vmId} className="flex gap-2 text-12 text-ink-2">
                      <span className="min-w-0 flex-1 truncate">
                        <TextLink href={`/vms/${vmId}`} prefetch={false} title={vm}>
                          {vm}
                        </TextLink>{' '}
                        {extension}
                      </span>
                      <Elapsed value={new Date(at)} className="shrink-0 text-ink-3 tabular-nums" />
                    </li>
                  ))}
                </ul>
              ) : null}
              {next ? (
                <p className="flex flex-wrap items-center gap-x-1 text-12 text-ink-3">
                  <span>{t('deadlines.next')}</span>
                  <TextLink
                    href={`/vms/${next.vmId}`}
                    prefetch={false}
                    className="inline-flex min-h-6 min-w-6 items-center wrap-anywhere"
                  >
                    {next.vm}
                  </TextLink>
                  <span>{t('deadlines.in')}</span>
                  <Countdown value={new Date(next.at)} className="font-medium text-ink-2 tabular-nums" />
                </p>
              ) : (
                <p className="text-12 text-ink-3">{t('deadlines.none')}</p>
              )}
            </div>
            <StatusIcon status={past === 0 ? 'healthy' : 'failed'} className="mt-2" />
          </div>
        )}
      </Part>
    </Card>
  );
}
