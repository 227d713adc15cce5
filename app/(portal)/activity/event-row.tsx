'use client';

import Link from 'next/link';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon, type StatusName } from '#app/_ui/status-icon.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import type { ListedEvent } from './act.ts';

const icons: Readonly<Record<ListedEvent['kind'], StatusName>> = {
  failed: 'failed',
  silent: 'unresponsive',
  recovered: 'healthy',
  back: 'healthy',
};

/** VMs that failed, stopped responding, recovered or responded again, with a link to exactly these VMs. */
export function EventRow({ event }: { event: ListedEvent }) {
  const { t } = useTranslation('activity');
  const format = useFormat();
  const { kind, vm, vms, extension } = event;
  const text =
    vm === null
      ? t(`event.${kind}`, { count: vms, shown: format.number(vms) })
      : extension === null
        ? t(`event.one.${kind}`, { vm: vm.name })
        : t('event.one.failed.extension', { vm: vm.name, extension });
  const href = vm === null ? `/vms?event=${kind}:${event.minute.toISOString().slice(0, 16)}Z` : `/vms/${vm.id}`;
  return (
    <li className="grid min-h-(--row) grid-cols-[auto_auto_minmax(0,1fr)] items-center gap-x-3 px-4 py-1.5 hover:bg-hover max-sm:grid-cols-[auto_minmax(0,1fr)] max-sm:gap-x-2.5">
      <span className="inline-grid size-[22px] place-items-center">
        <StatusIcon status={icons[kind]} />
      </span>
      <p className="min-w-0 text-ink-2 wrap-anywhere">
        <Trans
          text={text}
          tags={{
            vm: (
              <Link
                href={href}
                data-count={vm === null ? vms : undefined}
                translate={vm === null ? undefined : 'no'}
                prefetch={false}
                className="rounded-xs font-medium text-ink underline decoration-line underline-offset-3 hover:decoration-current"
              />
            ),
          }}
        />
      </p>
      <DateTime
        value={event.at}
        style="time"
        className="text-12 text-ink-3 tabular-nums max-sm:col-start-2 sm:order-first"
      />
    </li>
  );
}
