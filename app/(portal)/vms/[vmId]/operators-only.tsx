'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';

export interface OperatorsOnlyProps {
  /** Names the content that is not shown, as the subject of a sentence; by default, that of a tab. */
  what?: string;
}

/** Shown instead of content that the reader's role may not see: explains why, and who can change the role. */
export function OperatorsOnly({ what }: OperatorsOnlyProps) {
  const { t } = useTranslation(['vms', 'common']);
  const { role } = useReader();
  return (
    <Card>
      <EmptyState title={t('vms:vm.operatorsOnly')}>
        <p>
          {what ?? t('vms:vm.operatorsOnly.tab')} {t('vms:vm.operatorsOnly.why', { role: t(`common:role.${role}`) })}
        </p>
      </EmptyState>
    </Card>
  );
}
