'use client';

import { useQuery } from '@tanstack/react-query';
import Link from 'next/link';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import { vmsAddress } from '#app/_lib/vms-address.ts';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { Elapsed } from '#app/_ui/time.tsx';
import type { OverviewAnswers } from './answers.ts';
import { Part } from './part.tsx';

type FleetEvent = OverviewAnswers['events'][number];

/**
 * The newest events of the last day: VMs that failed or became unresponsive. VMs that failed within the same minute
 * count as one event, and so do VMs that became unresponsive within the same minute.
 */
export function EventsCard({ first }: { first: OverviewAnswers['events'] | undefined }) {
  const { t } = useTranslation('overview');
  const trpc = useTRPC();
  const events = useQuery({ ...trpc.overview.events.queryOptions(), initialData: first, enabled: false });
  useThrottledReload({ queryKey: trpc.overview.events.queryKey(), refetch: events.refetch, agesMs: 60_000 });
  return (
    <Card aria-labelledby="events">
      <CardHeader id="events" title={t('events')} />
      <Part query={events} failed={t('events.failed')}>
        {(rows) =>
          rows.length === 0 ? (
            <p className="px-4 pb-4 text-12 text-ink-3">{t('events.none')}</p>
          ) : (
            <ul className="pb-2">
              {rows.map((row) => (
                <li key={row.id} className="flex items-start gap-2.5 px-4 py-[7px]">
                  <StatusIcon status={row.health} className="mt-[3px] mx-1" />
                  <p className="min-w-0 flex-1 text-ink-2 wrap-anywhere">
                    <EventWords event={row} />
                  </p>
                  <Elapsed value={new Date(row.at)} className="shrink-0 text-12 text-ink-3 tabular-nums" />
                </li>
              ))}
            </ul>
          )
        }
      </Part>
    </Card>
  );
}

function EventWords({ event }: { event: FleetEvent }) {
  const { t } = useTranslation('overview');
  const format = useFormat();
  const { vm, extension, common, health } = event;
  if (vm) {
    const tags = {
      b: <Link href={`/vms/${vm.id}`} prefetch={false} className="font-medium text-ink hover:underline" />,
    };
    if (health === 'unresponsive') return <Trans text={t('events.silent', { vm: vm.name })} tags={tags} />;
    if (!extension) return <Trans text={t('events.failed.vm', { vm: vm.name })} tags={tags} />;
    const { name, cause, exitCode } = extension;
    const sentence =
      cause === 'exit' && exitCode !== null
        ? t('events.failed.exit', { vm: vm.name, name, exit: exitCode })
        : t('events.failed.extension', { vm: vm.name, name });
    return <Trans text={sentence} tags={tags} />;
  }
  const address = vmsAddress({ event: event.filter });
  const tags = {
    b: <Link href={address} prefetch={false} data-count={event.vms} className="font-medium text-ink hover:underline" />,
  };
  const count = { count: event.vms, shown: format.number(event.vms) };
  const text = common
    ? t(health === 'failed' ? 'events.many.failed.in' : 'events.many.silent.in', {
        ...count,
        tag: `${common.name}=${common.value}`,
      })
    : t(health === 'failed' ? 'events.many.failed' : 'events.many.silent', count);
  return <Trans text={text} tags={tags} />;
}
