'use client';

import { useQuery } from '@tanstack/react-query';
import { Rocket } from 'lucide-react';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';

/** The number of rollouts that do not continue without a person, with a link to exactly these. */
export function RolloutsTile({ first }: { first: { needing: number } | undefined }) {
  const { t } = useTranslation('overview');
  const trpc = useTRPC();
  const format = useFormat();
  const count = useQuery({ ...trpc.rollouts.countNeeding.queryOptions(), initialData: first, enabled: false });
  const queryKey = trpc.rollouts.countNeeding.queryKey();
  useThrottledReload({ queryKey, refetch: count.refetch, agesMs: 60_000, pauseMs: 5_000 });
  const needing = count.data?.needing;
  const isCalm = needing === undefined || needing === 0;
  return (
    <div
      data-st={isCalm ? undefined : 'warning'}
      className="relative pb-3 before:absolute before:inset-y-3.5 before:start-0 before:w-px before:bg-line-subtle max-md:border-t max-md:border-line-subtle max-md:pb-2.5 max-md:before:hidden"
    >
      <Link
        href="/rollouts?needing=yes"
        prefetch={false}
        className="grid content-start gap-px px-4 pt-[11px] after:absolute after:inset-0 hover:after:bg-hover focus-visible:shadow-none focus-visible:after:shadow-[inset_0_0_0_2px_var(--brand-text)] max-md:flex max-md:items-center max-md:gap-x-2 max-md:px-3 max-md:pt-2.5 max-sm:px-2.5"
      >
        <span className="flex items-start gap-1.5 text-12 font-medium text-ink-2 max-sm:gap-1 max-sm:text-11">
          <Rocket aria-hidden className={cn('mt-0.5 size-3.5 shrink-0', isCalm ? 'text-ink-3' : 'text-st-solid')} />
          <span className="min-w-0 wrap-anywhere">{t('rollouts')}</span>
        </span>
        <span
          className={cn(
            'text-26 font-semibold tracking-tight tabular-nums max-md:ms-auto max-md:text-20',
            isCalm && 'text-ink-3',
          )}
        >
          {needing === undefined ? '–' : format.number(needing)}
        </span>
      </Link>
      <p className="px-4 text-12 text-pretty text-ink-3 max-md:hidden">
        {t(needing === undefined ? 'rollouts.failed' : isCalm ? 'rollouts.none' : 'rollouts.why')}
      </p>
    </div>
  );
}
