'use client';

import Link from 'next/link';
import { useLayoutEffect, useRef, useState } from 'react';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import { StatusBadge } from '#app/_ui/status.tsx';
import { Countdown, RelativeTime } from '#app/_ui/time.tsx';
import type { ExtensionHealth } from '#server/domain/verdicts/words.ts';
import { useCause } from '../use-cause.ts';
import type { MapVm } from './use-cell-words.ts';

export interface CellCardProps {
  /** Position of the cell within the map, in pixels. */
  x: number;
  y: number;
  side: number;
  /** Width of the map, in pixels. */
  width: number;
  /** Null until the VM is loaded. */
  vm: MapVm | null;
  /** Health as the map shows it; null if the map shows a rollout. */
  health: ExtensionHealth | null;
  /** The rollout that the map shows, and the state of the cell in it. */
  mark: { rollout: string; state: string } | null;
  /** Number of other VMs in the same cell. */
  more: number;
  groupName: string;
}

const cardWidth = 248;
const tagsShown = 3;

/** The VM of a cell, with its health and the reasons. */
export function CellCard({ x, y, side, width, vm, health, mark, more, groupName }: CellCardProps) {
  const { t } = useTranslation(['overview', 'reports']);
  const cause = useCause();
  const card = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height of the card depends on its contents
  useLayoutEffect(() => setHeight(card.current?.offsetHeight ?? 0), [vm]);
  const shownHealth = vm?.health ?? health;
  const left = Math.max(0, Math.min(x + side + 10, width - cardWidth));
  // The card is above the cell, unless there is not enough space.
  const top = y > height + 16 ? y - height - 10 : y + side + 10;
  return (
    <div
      ref={card}
      dir="auto"
      className="pointer-events-none absolute z-10 grid gap-1.5 rounded-lg bg-raised px-3 pt-2.5 pb-3 shadow-float pointer-coarse:pointer-events-auto"
      style={{ left, top, width: Math.min(cardWidth, width) }}
    >
      <div className="flex items-start gap-2">
        <div className="min-w-0 flex-1 font-semibold wrap-anywhere">
          {vm ? (
            <Link href={`/vms/${vm.id}`} translate="no" prefetch={false} tabIndex={-1}>
              {vm.name}
            </Link>
          ) : (
            <Skeleton className="my-1.5 w-28" />
          )}
        </div>
        {shownHealth === null ? null : (
          <StatusBadge status={statusOfHealth[shownHealth]}>{t(`reports:health.${shownHealth}`)}</StatusBadge>
        )}
      </div>
      {mark === null ? null : (
        <p className="text-12 font-medium wrap-anywhere">{t('overview:map.rollout.cell', mark)}</p>
      )}
      {vm?.health === 'unresponsive' ? (
        <p className="text-12 text-ink-2">{t('overview:card.silent')}</p>
      ) : vm && vm.troubles.length > 0 ? (
        <ul className="text-12 text-ink-2">
          {vm.troubles.map((trouble) => (
            <li key={trouble.extension} className="wrap-anywhere">
              <b className="font-medium text-ink">{trouble.extension}</b> {cause(trouble)}
              {trouble.deadlineAt !== null ? (
                <>
                  , {t('overview:card.deadline')}{' '}
                  <Countdown value={new Date(trouble.deadlineAt)} className="font-medium tabular-nums" />
                </>
              ) : null}
            </li>
          ))}
        </ul>
      ) : null}
      <div className="flex flex-wrap gap-x-2.5 text-11 text-ink-3 tabular-nums">
        {vm === null ? (
          <span>{groupName}</span>
        ) : (
          <>
            <span>
              {vm.lastSeenAt === null ? (
                t('overview:card.never')
              ) : (
                <>
                  {t('overview:card.poll')} <RelativeTime value={new Date(vm.lastSeenAt)} />
                </>
              )}
            </span>
            {Object.entries(vm.tags)
              .slice(0, tagsShown)
              .map(([name, value]) => (
                <span key={name} className="wrap-anywhere">
                  {name} {value}
                </span>
              ))}
          </>
        )}
        {more > 0 ? <span>{t('overview:card.more', { count: more })}</span> : null}
      </div>
    </div>
  );
}
