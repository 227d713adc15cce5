'use client';

import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useLeaveGuard } from '#app/_lib/use-leave-guard.ts';
import { Button } from '#app/_ui/button.tsx';

const Dialog = dynamic(() => import('#app/_ui/dialog.tsx').then((module) => module.Dialog), { ssr: false });

export interface LeaveDraftProps {
  /** Whether the draft has changes that are not saved. */
  active: boolean;
  /** Saves the draft. Rejects if it was not saved; the page then shows why. */
  onSave(): Promise<void>;
}

/** Asks whether to save the draft before the reader leaves the page. */
export function LeaveDraft({ active, onSave }: LeaveDraftProps) {
  const { t } = useTranslation('runbooks');
  const [go, setGo] = useState<(() => void) | null>(null);
  const [isSaving, setSaving] = useState(false);
  useLeaveGuard(active ? (wanted) => setGo(() => wanted) : null);
  if (go === null) return null;
  const leave = () => {
    setGo(null);
    go();
  };
  const saveAndLeave = async () => {
    setSaving(true);
    try {
      await onSave();
      leave();
    } catch {
      setGo(null);
    } finally {
      setSaving(false);
    }
  };
  return (
    <Dialog
      open
      onOpenChange={() => setGo(null)}
      title={t('leave.title')}
      description={t('leave.what')}
      footer={
        <>
          <Button onClick={() => setGo(null)}>{t('leave.stay')}</Button>
          <Button variant="danger" onClick={leave}>
            {t('leave.discard')}
          </Button>
          <Button variant="primary" busy={isSaving} onClick={() => void saveAndLeave()}>
            {t('leave.save')}
          </Button>
        </>
      }
    />
  );
}
