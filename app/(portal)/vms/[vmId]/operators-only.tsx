'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';

/** Shown instead of content that the reader's role may not see: explains why, and who can change the role. */
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
