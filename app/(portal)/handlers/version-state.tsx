'use client';

import { Archive, CircleCheck, PencilLine } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';

export type VersionStateName = 'draft' | 'published' | 'withdrawn';

const icons = { draft: PencilLine, published: CircleCheck, withdrawn: Archive };

/** A version's state, as an icon and a label. The state says nothing about health, so it has no color. */
export function VersionState({ state, className }: { state: VersionStateName; className?: string }) {
  const { t } = useTranslation('packages');
  const Icon = icons[state];
  return (
    <span
      className={cn(
        'inline-flex items-center gap-1.5 align-middle whitespace-nowrap',
        state === 'published' ? 'text-ink' : 'text-ink-2',
        className,
      )}
    >
      <Icon aria-hidden className="size-[15px] text-ink-3" />
      {t(`state.${state}`)}
    </span>
  );
}
