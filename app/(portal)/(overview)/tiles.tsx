'use client';

import Link from 'next/link';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { vmsAddress } from './addresses.ts';
import type { OverviewAnswers } from './answers.ts';

/** The numbers of VMs by health as links, below a bar that shows their shares. */
export function Tiles({ summary }: { summary: OverviewAnswers['summary'] }) {
  const { t } = useTranslation(['overview', 'reports']);
  const format = useFormat();
  return (
    <Card aria-label={t('overview:counts')} className="relative overflow-hidden pt-1">
      <div aria-hidden className="absolute inset-x-0 top-0 flex h-1 gap-px">
        {summary.counts
          .filter(({ vms }) => vms > 0)
          .map(({ health, vms }) => (
            <span
              key={health}
              data-st={statusOfHealth[health]}
              style={{ flexGrow: vms }}
              className={health === 'healthy' ? 'min-w-1.5 bg-st-solid opacity-55' : 'min-w-1.5 bg-st-solid'}
            />
          ))}
      </div>
      <ul className="grid grid-cols-6 max-md:grid-cols-3">
        {summary.counts.map(({ health, vms, change }) => (
          <li
            key={health}
            className="relative not-first:before:absolute not-first:before:inset-y-3.5 not-first:before:start-0 not-first:before:w-px not-first:before:bg-line-subtle max-md:[&:nth-child(4)]:before:hidden max-md:[&:nth-child(n+4)]:border-t max-md:[&:nth-child(n+4)]:border-line-subtle"
          >
            <Link
              href={vmsAddress({ health })}
              prefetch={false}
              className="grid h-full content-start gap-px px-4 pt-[11px] pb-3 hover:bg-hover focus-visible:shadow-[inset_0_0_0_2px_var(--brand-text)] max-md:px-3 max-md:py-2.5 max-sm:px-2.5"
            >
              <span className="flex items-start gap-1.5 text-12 font-medium text-ink-2 max-sm:gap-1 max-sm:text-11">
                <StatusIcon status={statusOfHealth[health]} className="mt-0.5 text-st-solid max-sm:size-3" />
                <span className="min-w-0 wrap-anywhere">{t(`reports:health.${health}`)}</span>
              </span>
              <span className="text-26 font-semibold tracking-tight tabular-nums max-md:text-20">
                {format.number(vms)}
              </span>
              <span className="text-12 text-ink-3 tabular-nums max-md:hidden">
                {health === 'healthy' && summary.vms > 0
                  ? format.number(vms / summary.vms, { style: 'percent', maximumFractionDigits: 1 })
                  : change === 0
                    ? t('overview:change.none')
                    : t(change > 0 ? 'overview:change.more' : 'overview:change.fewer', {
                        count: Math.abs(change),
                        shown: format.number(Math.abs(change)),
                      })}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  );
}
