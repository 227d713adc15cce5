'use client';

import { ChevronRight } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useId, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { DateTime } from '#app/_ui/time.tsx';
import type { ListedAct, OnFilter } from './act.ts';
import { ActSentence } from './act-sentence.tsx';
import { ActorMark } from './actor-mark.tsx';

const ActContents = dynamic(() => import('./act-contents.tsx').then((module) => module.ActContents), { ssr: false });

/**
 * One action: when it happened, who did it, what it was and where it came from. Opens to show the values before and
 * after.
 */
export function ActRow({ act, onFilter }: { act: ListedAct; onFilter: OnFilter }) {
  const { t } = useTranslation('activity');
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <li>
      <div className="grid min-h-(--row) grid-cols-[auto_auto_minmax(0,1fr)_auto_auto] items-center gap-x-3 px-4 py-1.5 hover:bg-hover max-sm:grid-cols-[auto_minmax(0,1fr)_auto] max-sm:gap-x-2.5">
        <ActorMark actor={act.actor} />
        <p className="min-w-0 text-ink-2 wrap-anywhere">
          <ActSentence act={act} onFilter={onFilter} />
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
        {act.hasContents ? (
          <button
            type="button"
            aria-expanded={open}
            aria-controls={open ? id : undefined}
            onClick={() => setOpen(!open)}
            className="inline-grid size-6 place-items-center rounded-md text-ink-3 hover:bg-press hover:text-ink pointer-coarse:size-(--touch)"
          >
            <ChevronRight
              aria-hidden
              className={cn(
                'size-4 transition-transform duration-(--d-1) rtl:-scale-x-100',
                open && 'rotate-90 rtl:rotate-90',
              )}
            />
            <span className="sr-only">{t(open ? 'contents.hide' : 'contents.show')}</span>
          </button>
        ) : (
          <span aria-hidden className="size-6 pointer-coarse:size-(--touch)" />
        )}
      </div>
      {open ? <ActContents id={id} act={act} /> : null}
    </li>
  );
}
