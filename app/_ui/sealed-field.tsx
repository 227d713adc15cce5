'use client';

import { Lock } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from './cn.ts';

export interface SealedFieldProps {
  /** When and by whom the secret was last changed, such as `changed <RelativeTime/> by Ada`. */
  changed?: ReactNode;
  /** Buttons, such as a button that opens an input for a new value. */
  actions?: ReactNode;
  className?: string;
}

/** A stored secret: a box with a lock, which never looks like an input with a readable value. */
export function SealedField({ changed, actions, className }: SealedFieldProps) {
  const { t } = useTranslation('common');
  return (
    <div
      className={cn(
        'flex min-h-10 flex-wrap items-center gap-x-2 gap-y-1 rounded-md bg-sunken py-1 ps-3 pe-[5px] shadow-hair',
        className,
      )}
    >
      <Lock aria-hidden className="size-[15px] shrink-0 text-ink-3" />
      <span>{t('sealed')}</span>
      <span className="ms-auto flex flex-wrap items-center justify-end gap-2 text-12 text-ink-3">
        {changed}
        {actions}
      </span>
    </div>
  );
}
