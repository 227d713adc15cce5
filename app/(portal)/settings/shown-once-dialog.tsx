'use client';

import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { CopyCommand } from '#app/_ui/copy.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';

export interface ShownOnceDialogProps {
  title: string;
  description: string;
  value: string;
  onClose(): void;
  children?: ReactNode;
}

/** Shows a new link or token, which cannot be displayed again. */
export function ShownOnceDialog({ title, description, value, onClose, children }: ShownOnceDialogProps) {
  const { t } = useTranslation('settings');
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={title}
      description={description}
      footer={
        <Button variant="primary" onClick={onClose}>
          {t('done')}
        </Button>
      }
    >
      <CopyCommand whole command={value} />
      {children}
    </Dialog>
  );
}
