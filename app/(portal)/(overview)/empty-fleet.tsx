'use client';

import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card } from '#app/_ui/card.tsx';
import { CopyCommand } from '#app/_ui/copy.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';

/** Shown if there are no VMs: how to enroll the first one. */
export function EmptyFleet({ gatewayUrl, act }: { gatewayUrl: string; act: ReactNode | undefined }) {
  const { t } = useTranslation('overview');
  // Readers without the button are not allowed to enroll VMs, so the command would not help them.
  if (act === undefined) {
    return (
      <Card>
        <EmptyState title={t('empty.title')}>
          <p>{t('empty.viewer')}</p>
        </EmptyState>
      </Card>
    );
  }
  return (
    <Card>
      <EmptyState title={t('empty.title')} actions={act} foot={t('empty.foot')}>
        <p>{t('empty.why')}</p>
        <CopyCommand command={`annex-agent enroll --portal ${gatewayUrl} --dir /var/lib/annex-agent`} />
      </EmptyState>
    </Card>
  );
}
