'use client';

import { useQuery } from '@tanstack/react-query';
import type { MouseEvent } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC, useTRPCClient } from '#app/_lib/trpc.tsx';
import { cn } from '#app/_ui/cn.ts';
import { Num } from '#app/_ui/num.tsx';
import { scrollIntoBar, tab, tabBar } from '#app/_ui/tab-style.ts';
import type { FleetFilter } from '#server/domain/fleet/index.ts';
import { needsAttention, unresponsiveSeconds } from '#server/domain/verdicts/words.ts';
import { sortAfter, withoutGaps, writeAddress } from './fleet-address.ts';
import { ageMs, type FleetSummary } from './reading.ts';
import type { FleetAddress } from './use-fleet-address.ts';
import { usePaced } from './use-paced.ts';
import { paceMs } from './use-reading.ts';

const views: readonly { name: 'all' | 'attention' | 'silent' | 'held'; filter: FleetFilter }[] = [
  { name: 'all', filter: {} },
  { name: 'attention', filter: { health: [...needsAttention] } },
  { name: 'silent', filter: { silentMinutes: unresponsiveSeconds / 60 } },
  { name: 'held', filter: { held: ['yes'] } },
];

const countOf = (name: (typeof views)[number]['name'], { total, byHealth, silent, held }: FleetSummary): number => {
  if (name === 'all') return total;
  if (name === 'held') return held;
  return name === 'silent' ? silent : needsAttention.reduce((sum, health) => sum + byHealth[health], 0);
};

export interface QuickViewsProps {
  address: FleetAddress;
  /** The counts that the server loaded; null if loading them failed. */
  first: FleetSummary | null;
  firstAt: number;
}

/** Links to common filters, each with its number of VMs, if known. */
export function QuickViews({ address, first, firstAt }: QuickViewsProps) {
  const { t } = useTranslation('vms');
  const trpc = useTRPC();
  const client = useTRPCClient();
  const paced = usePaced(paceMs);
  const summary = useQuery({
    queryKey: trpc.fleet.summary.queryKey(),
    queryFn: ({ queryKey }) => paced(queryKey, () => client.fleet.summary.query()),
    ...(first !== null && { initialData: first, initialDataUpdatedAt: firstAt }),
    staleTime: ageMs,
    refetchInterval: ageMs,
  });
  const { fields } = address;
  const { filter, sort } = address.query;
  const addressOf = (of: FleetFilter) => writeAddress(fields, { filter: withoutGaps(of), sort: 'health' });
  const now = addressOf({ ...filter, q: undefined });
  return (
    <nav aria-label={t('views')} className={cn(tabBar, 'mb-3')}>
      {views.map((view) => {
        const next = withoutGaps({ ...view.filter, q: filter.q });
        const query = { filter: next, sort: sortAfter({ filter, sort }, next) };
        const open = (event: MouseEvent) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return;
          event.preventDefault();
          address.change(query);
        };
        const isCurrent = addressOf(view.filter) === now;
        return (
          <a
            key={view.name}
            href={address.hrefOf(query)}
            onClick={open}
            data-count={summary.data && countOf(view.name, summary.data)}
            aria-current={isCurrent ? 'page' : undefined}
            ref={isCurrent ? scrollIntoBar : undefined}
            className={cn(
              tab,
              'aria-[current=page]:border-brand-text aria-[current=page]:font-medium aria-[current=page]:text-ink',
            )}
          >
            {t(`view.${view.name}`)}
            {summary.data === undefined ? null : (
              <span className="text-11 font-normal text-ink-3 tabular-nums">
                <Num value={countOf(view.name, summary.data)} />
              </span>
            )}
          </a>
        );
      })}
    </nav>
  );
}
