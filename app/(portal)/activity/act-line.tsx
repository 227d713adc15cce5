'use client';

import { ChevronRight } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { DateTime } from '#app/_ui/time.tsx';
import type { FoldedActs, ListedAct, OnFilter } from './act.ts';
import { ActSentence } from './act-sentence.tsx';
import { ActorMark } from './actor-mark.tsx';

export interface ActLineProps {
  act: ListedAct;
  /** The counts of the actions if the line is about several actions; `act` is the newest of them. */
  fold?: FoldedActs['fold'];
  onFilter: OnFilter;
  /** The id of the element that the line opens; null if there is nothing to open. */
  opens: string | null;
  open: boolean;
  onOpen(open: boolean): void;
}

/**
 * The line about one action or several similar actions: when they happened, who did them, what they were, and their
 * origin.
 */
export function ActLine({ act, fold = null, onFilter, opens, open, onOpen }: ActLineProps) {
  const { t } = useTranslation('activity');
  return (
    <div className="grid min-h-(--row) grid-cols-[auto_auto_minmax(0,1fr)_auto_auto] items-center gap-x-3 px-4 py-1.5 hover:bg-hover max-sm:grid-cols-[auto_minmax(0,1fr)_auto] max-sm:gap-x-2.5">
      <ActorMark actor={act.actor} />
      <p className="min-w-0 text-ink-2 wrap-anywhere">
        <ActSentence act={act} fold={fold} onFilter={onFilter} />
      </p>
      <div className="contents text-12 text-ink-3 max-sm:order-last max-sm:col-start-2 max-sm:flex max-sm:flex-wrap max-sm:gap-x-2">
        <DateTime value={act.at} style="time" className="tabular-nums sm:order-first" />
        <span className="inline-flex items-baseline gap-1.5">
          {act.door === null ? null : t(`door.${act.door}`)}
          {act.address === null ? null : (
            <bdi translate="no" className="mono-11" title={act.client ?? undefined}>
              {act.address}
            </bdi>
          )}
        </span>
      </div>
      {opens !== null ? (
        <button
          type="button"
          aria-expanded={open}
          aria-controls={open ? opens : undefined}
          onClick={() => onOpen(!open)}
          className="inline-grid size-6 place-items-center rounded-md text-ink-3 hover:bg-press hover:text-ink pointer-coarse:size-(--touch)"
        >
          <ChevronRight
            aria-hidden
            className={cn(
              'size-4 transition-transform duration-(--d-1) rtl:-scale-x-100',
              open && 'rotate-90 rtl:rotate-90',
            )}
          />
          <span className="sr-only">{t(`${fold === null ? 'contents' : 'fold'}.${open ? 'hide' : 'show'}`)}</span>
        </button>
      ) : (
        <span aria-hidden className="size-6 pointer-coarse:size-(--touch)" />
      )}
    </div>
  );
}
