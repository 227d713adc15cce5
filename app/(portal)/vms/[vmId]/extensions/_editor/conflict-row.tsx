'use client';

import { useId } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import type { ConflictSide, DraftDifference } from './merge.ts';
import { useChangeWords } from './use-change-words.ts';

export interface ConflictRowProps {
  difference: DraftDifference;
  /** The side whose value is used; null until one is chosen. */
  side: ConflictSide | null;
  /** Undefined if there is nothing to choose. */
  onChoose: ((side: ConflictSide) => void) | undefined;
}

/** One difference: the original value, and the other person's and the reader's values to choose from. */
export function ConflictRow({ difference, side, onChoose }: ConflictRowProps) {
  const { t } = useTranslation('editor');
  const say = useChangeWords();
  const name = useId();
  const { change, base, theirs, mine, by } = difference;
  const isMono = change.kind === 'setting' || change.kind === 'version';
  const cell = (value: string | undefined) =>
    value === undefined ? (
      <span className="text-ink-3">{t('changes.notSet')}</span>
    ) : (
      <span className={cn('wrap-anywhere', isMono && 'mono')}>{say.value(change, value)}</span>
    );
  return (
    <li className="border-t border-line-subtle first:border-t-0">
      <fieldset
        data-open-conflict={side === null ? '' : undefined}
        className="grid items-start gap-x-3 gap-y-1.5 px-4 py-2.5 sm:grid-cols-[minmax(120px,1fr)_minmax(0,1fr)_minmax(0,1fr)_minmax(0,1fr)]"
      >
        <legend className="sr-only">{say.title(change)}</legend>
        <div>
          <div aria-hidden className="font-medium wrap-anywhere">
            {say.title(change)}
          </div>
          <div
            className={cn('flex items-baseline gap-1.5 text-12', side === null ? 'text-warning-text' : 'text-ink-3')}
          >
            {side === null ? <StatusIcon status="warning" className="relative top-0.5 shrink-0" /> : null}
            {t(`moved.by.${by}`)}
          </div>
        </div>
        <div className="min-w-0 sm:py-[5px]">
          {change.kind === 'protected' ? null : (
            <>
              <span className="me-0.5 text-12 text-ink-3">{t('moved.was')}</span> {cell(base)}
            </>
          )}
        </div>
        {(onChoose ? (['theirs', 'mine'] as const) : (['theirs'] as const)).map((one) => (
          <label
            key={one}
            className={cn(
              'flex min-w-0 items-baseline gap-2 rounded-md px-2.5 py-[5px] shadow-hair pointer-coarse:min-h-(--touch) pointer-coarse:items-center',
              onChoose && 'cursor-pointer hover:bg-hover',
              side === one && 'bg-brand-tint shadow-[inset_0_0_0_1.5px_var(--brand-text)]',
            )}
          >
            <input
              type="radio"
              name={name}
              checked={side === one}
              disabled={onChoose === undefined}
              onChange={() => onChoose?.(one)}
              className="relative top-px size-3.5 shrink-0 accent-(--brand)"
            />
            <span className="min-w-0">
              <span className="me-0.5 text-12 text-ink-3">{t(`moved.${one}`)}</span>{' '}
              {cell(one === 'theirs' ? theirs : mine)}
            </span>
          </label>
        ))}
      </fieldset>
    </li>
  );
}
