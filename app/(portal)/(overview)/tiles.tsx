'use client';

import Link from 'next/link';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { vmsAddress } from '#app/_lib/vms-address.ts';
import { Card } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { vmHealths } from '#server/domain/verdicts/words.ts';
import type { OverviewAnswers } from './answers.ts';
import { RolloutsTile } from './rollouts-tile.tsx';

export interface TilesProps {
  summary: OverviewAnswers['summary'];
  /** The number of rollouts that the server has loaded. */
  rollouts: { needing: number } | undefined;
}

/** The numbers of VMs by health as links, below a bar that shows their shares, and the rollouts that need a person. */
export function Tiles({ summary, rollouts }: TilesProps) {
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
      <div className="grid grid-cols-[minmax(0,6fr)_minmax(0,1.5fr)] max-md:grid-cols-1">
        <ul className="grid grid-cols-6 max-md:grid-cols-3">
          {summary.counts.map((count) => {
            const { health, vms } = count;
            return (
              <li
                key={health}
                className="relative pb-3 max-md:pb-2.5 not-first:before:absolute not-first:before:inset-y-3.5 not-first:before:start-0 not-first:before:w-px not-first:before:bg-line-subtle max-md:[&:nth-child(4)]:before:hidden max-md:[&:nth-child(n+4)]:border-t max-md:[&:nth-child(n+4)]:border-line-subtle"
              >
                <Link
                  href={vmsAddress({ health: [health] })}
                  prefetch={false}
                  data-count={vms}
                  className="grid content-start gap-px px-4 pt-[11px] after:absolute after:inset-0 hover:after:bg-hover focus-visible:shadow-none focus-visible:after:shadow-[inset_0_0_0_2px_var(--brand-text)] max-md:px-3 max-md:pt-2.5 max-sm:px-2.5"
                >
                  <span className="flex items-start gap-1.5 text-12 font-medium text-ink-2 max-sm:gap-1 max-sm:text-11">
                    <StatusIcon status={statusOfHealth[health]} className="mt-0.5 text-st-solid max-sm:hidden" />
                    <span className="min-w-0 wrap-anywhere">{t(`reports:health.${health}`)}</span>
                  </span>
                  <span className="text-26 font-semibold tracking-tight tabular-nums max-md:text-20 max-sm:flex max-sm:items-center max-sm:gap-1.5">
                    {/* Beside the number, because the label of a narrow tile needs its whole width. */}
                    <StatusIcon status={statusOfHealth[health]} className="sm:hidden" />
                    {format.number(vms)}
                  </span>
                </Link>
                <Moved count={count} since={summary.since} />
              </li>
            );
          })}
        </ul>
        <RolloutsTile first={rollouts} />
      </div>
    </Card>
  );
}

type Count = OverviewAnswers['summary']['counts'][number];

/**
 * The net change in the number of VMs with this health in the last hour, and how many VMs gained and lost this health.
 * No list of VMs corresponds to the net change, so only the numbers of VMs that gained or lost this health are links.
 */
function Moved({ count: { health, more, came, gone }, since }: { count: Count; since: string }) {
  const { t } = useTranslation(['overview', 'reports']);
  const format = useFormat();
  const name = t(`reports:health.${health}`);
  const others = vmHealths.filter((other) => other !== health);
  const moves = [
    {
      ...{ way: 'came' as const, count: came, href: vmsAddress({ health: [health], sinceAfter: since }) },
      label: t('overview:change.came', { count: came, shown: format.number(came), health: name }),
    },
    {
      ...{
        way: 'gone' as const,
        count: gone,
        href: vmsAddress({ health: others, left: [health], changedAfter: since }),
      },
      label: t('overview:change.gone', { count: gone, shown: format.number(gone), health: name }),
    },
  ].filter((move) => move.count > 0);
  return (
    <p className="flex min-h-9 flex-wrap content-start gap-x-2 px-4 text-12 text-ink-3 tabular-nums max-md:hidden">
      <span className="w-full">
        {more === 0
          ? t('overview:change.none')
          : t('overview:change.hour', { difference: format.number(more, { signDisplay: 'always' }) })}
      </span>
      {moves.map(({ way, count, href, label }) => (
        <Link
          key={way}
          href={href}
          prefetch={false}
          data-count={count}
          title={label}
          className="relative z-10 -my-1 inline-flex min-h-6 min-w-6 items-center rounded-xs text-ink-2 hover:underline"
        >
          {t(`overview:change.${way}.short`, { count, shown: format.number(count) })}
        </Link>
      ))}
    </p>
  );
}
