'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';

/** Replaces content that the reader's role may not see, with the reason and who can help. */
export function OperatorsOnly() {
  const { t } = useTranslation(['vms', 'common']);
  const { role } = useReader();
  return (
    <Card>
      <EmptyState title={t('vms:vm.operatorsOnly')}>
        <p>{t('vms:vm.operatorsOnly.why', { role: t(`common:role.${role}`) })}</p>
      </EmptyState>
    </Card>
  );
}
