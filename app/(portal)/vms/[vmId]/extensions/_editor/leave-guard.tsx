'use client';

import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useLeaveGuard } from '#app/_lib/use-leave-guard.ts';

const ConfirmDialog = dynamic(() => import('#app/_ui/confirm-dialog.tsx').then((module) => module.ConfirmDialog), {
  ssr: false,
});

export interface LeaveGuardProps {
  active: boolean;
  /** The question, if the page does not apply changes. */
  title?: string;
}

/** Asks for confirmation before unsaved changes are lost. */
export function LeaveGuard({ active, title }: LeaveGuardProps) {
  const { t } = useTranslation('editor');
  const [go, setGo] = useState<(() => void) | null>(null);
  useLeaveGuard(active ? (wanted) => setGo(() => wanted) : null);
  if (go === null) return null;
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || setGo(null)}
      title={title ?? t('leave.title')}
      description={t('leave.why')}
      confirmLabel={t('leave.confirm')}
      cancelLabel={t('leave.stay')}
      onConfirm={go}
    />
  );
}
