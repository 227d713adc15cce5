'use client';

import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';

/** Shown before the first VM exists. `enroll` is the button that adds a VM, for readers who may add VMs. */
export function NoVms({ enroll }: { enroll: ReactNode }) {
  const { t } = useTranslation('vms');
  return (
    <Card>
      <EmptyState title={t('empty.title')} actions={enroll}>
        <p>{t(enroll ? 'empty.why' : 'empty.viewer')}</p>
      </EmptyState>
    </Card>
  );
}

/** Shown if no VM matches the filters. */
export function NoMatch({ onClear }: { onClear(): void }) {
  const { t } = useTranslation('vms');
  return (
    <Card>
      <EmptyState title={t('noMatch.title')} actions={<Button onClick={onClear}>{t('noMatch.clear')}</Button>}>
        <p>{t('noMatch.why')}</p>
      </EmptyState>
    </Card>
  );
}
