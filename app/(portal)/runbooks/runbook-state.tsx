'use client';

import { Archive, CircleCheck, PencilLine } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import type { RunbookVersion } from './runbook-data.ts';

const icons = { draft: PencilLine, published: CircleCheck, withdrawn: Archive };

/** The state of a runbook's version, as an icon and a word. Has no color, because the state is not about health. */
export function RunbookState({ state }: Pick<RunbookVersion, 'state'>) {
  const { t } = useTranslation('runbooks');
  const Icon = icons[state];
  return (
    <span
      className={cn(
        'inline-flex items-center gap-1.5 align-middle whitespace-nowrap',
        state === 'published' ? 'text-ink' : 'text-ink-2',
      )}
    >
      <Icon aria-hidden className="size-[15px] text-ink-3" />
      {t(`state.${state}`)}
    </span>
  );
}
