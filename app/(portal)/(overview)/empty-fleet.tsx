'use client';

import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card } from '#app/_ui/card.tsx';
import { CopyCommand } from '#app/_ui/copy.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';

/** Nothing to look at yet: what leads there. */
export function EmptyFleet({ gatewayUrl, act }: { gatewayUrl: string; act: ReactNode | undefined }) {
  const { t } = useTranslation('overview');
  // Who may not do it is not given its command.
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
        <CopyCommand
          command={`npm run -s agent -- enroll --portal ${gatewayUrl} --token <token> --dir /var/lib/annex-agent`}
        />
      </EmptyState>
    </Card>
  );
}
