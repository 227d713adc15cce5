'use client';

import { X } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';

/** Replaces the “why” card when there is nothing left to explain. */
export function Reached({ onClose }: { onClose(): void }) {
  const { t } = useTranslation(['reports', 'common']);
  return (
    <Card className="relative grid place-content-center">
      <p role="status" className="flex items-center gap-2 px-12 py-4 text-ink-2">
        <StatusIcon status="healthy" className="size-[18px]" />
        {t('reports:why.reached')}
      </p>
      <IconButton size="sm" label={t('common:close')} className="absolute end-2 top-2" onClick={onClose}>
        <X aria-hidden />
      </IconButton>
    </Card>
  );
}
