'use client';

import { Pin, X } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button, IconButton } from '#app/_ui/button.tsx';
import { useFormat } from '#app/_ui/format.ts';

/** The moment that others are compared with: a clock, or now; null if nothing is compared. */
export type Pinned = number | 'now' | null;

export interface CompareChoiceProps {
  /** The clock of the moment that is shown. */
  clock: number;
  isPast: boolean;
  pinned: Pinned;
  onPin(pinned: Pinned): void;
}

/** Compares the moment on screen with now, or pins it so that other moments are compared with it. */
export function CompareChoice({ clock, isPast, pinned, onPin }: CompareChoiceProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  if (pinned !== null) {
    return (
      <span className="inline-flex items-center gap-1 rounded-sm bg-brand-tint py-0.5 ps-2 text-12 text-brand-text">
        {pinned === 'now'
          ? t('relation.compare.withNow')
          : t('relation.compare.with', { clock: format.number(pinned) })}
        <IconButton size="sm" label={t('relation.compare.stop')} onClick={() => onPin(null)}>
          <X aria-hidden />
        </IconButton>
      </span>
    );
  }
  return (
    <>
      {isPast ? (
        <Button size="sm" onClick={() => onPin('now')}>
          {t('relation.compare.now')}
        </Button>
      ) : null}
      <Button size="sm" variant="ghost" title={t('relation.compare.pin.why')} onClick={() => onPin(clock)}>
        <Pin aria-hidden />
        {t('relation.compare.pin')}
      </Button>
    </>
  );
}
