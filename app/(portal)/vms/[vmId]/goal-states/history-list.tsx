'use client';

import { useId } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { Chip } from '#app/_ui/tag.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import { rolloutTag } from '../rollouts/rollout-line.tsx';
import type { PastChange } from '../vm-data.ts';
import { useCauseWords } from './use-change-words.ts';

/** The two goal states being compared. */
export interface ComparedPair {
  from: number;
  to: number;
}

export interface HistoryListProps {
  states: readonly PastChange[];
  /** The current incarnation. */
  newest: number;
  pair: ComparedPair;
  onCompare(pair: ComparedPair): void;
}

/** Goal states, newest first. Each row shows its changes and two radio buttons to choose what to compare. */
export function HistoryList({ states, newest, pair, onCompare }: HistoryListProps) {
  const { t } = useTranslation('goal-states');
  const group = useId();
  const say = useCauseWords();
  return (
    <>
      <div className="flex items-center gap-1 px-4 pt-2 pb-1 text-11 text-ink-3">
        <span aria-hidden className="w-[52px]">
          {t('compare.columns')}
        </span>
        <span>{t('history')}</span>
      </div>
      <ol
        aria-label={t('history')}
        className="divide-y divide-line-subtle border-t border-line-subtle max-lg:max-h-80 max-lg:overflow-y-auto"
      >
        {states.map((state) => {
          const { incarnation } = state;
          return (
            <li
              key={incarnation}
              className={cn(
                'grid grid-cols-[26px_26px_minmax(0,1fr)] ps-3.5',
                incarnation === pair.to && 'bg-brand-tint',
                incarnation === pair.from && 'bg-hover',
              )}
            >
              <Dot
                name={`${group}from`}
                label={t('compare.from', { incarnation })}
                checked={incarnation === pair.from}
                onChoose={() => onCompare({ ...pair, from: incarnation })}
              />
              <Dot
                name={`${group}to`}
                label={t('compare.to', { incarnation })}
                checked={incarnation === pair.to}
                onChoose={() => onCompare({ ...pair, to: incarnation })}
              />
              <button
                type="button"
                aria-pressed={incarnation === pair.to && pair.from === incarnation - 1}
                onClick={() => onCompare({ from: incarnation - 1, to: incarnation })}
                className="grid min-w-0 grid-cols-[28px_minmax(0,1fr)_auto] gap-x-2 py-2 ps-1 pe-4 text-start hover:bg-hover focus-visible:shadow-[inset_0_0_0_2px_var(--brand-text)]"
              >
                <span translate="no" className="mono text-ink-2 tabular-nums">
                  {incarnation}
                </span>
                <span className="min-w-0">
                  <span className="line-clamp-3 wrap-anywhere">{say(state)}</span>
                  <span className="flex flex-wrap items-center gap-2 text-11 text-ink-3">
                    {state.cause.rollout === undefined ? (
                      <span className="wrap-anywhere">{state.publishedBy}</span>
                    ) : null}
                    {incarnation === newest ? <Chip className="h-4 px-1 text-11">{t('current')}</Chip> : null}
                  </span>
                </span>
                <RelativeTime value={new Date(state.publishedAt)} className="text-11 text-ink-3 tabular-nums" />
              </button>
              {state.cause.rollout === undefined ? null : (
                <p className="col-start-3 -mt-1.5 ps-10 pe-4 pb-2 text-11 text-ink-2">
                  <Trans
                    text={t('cause.rollout', { name: state.publishedBy })}
                    tags={{ link: rolloutTag(state.cause.rollout) }}
                  />
                </p>
              )}
            </li>
          );
        })}
      </ol>
    </>
  );
}

interface DotProps {
  name: string;
  label: string;
  checked: boolean;
  onChoose(): void;
}

/** A radio button that selects one of the two goal states. Arrow keys move within its column. */
function Dot({ name, label, checked, onChoose }: DotProps) {
  return (
    <label className="flex justify-center pt-2.5 pb-2" title={label}>
      <input
        type="radio"
        name={name}
        checked={checked}
        onChange={onChoose}
        aria-label={label}
        className="size-3.5 accent-(--brand) outline-offset-2 focus-visible:outline-2 focus-visible:outline-(--brand-text)"
      />
    </label>
  );
}
