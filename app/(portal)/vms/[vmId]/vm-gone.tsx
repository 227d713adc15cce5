'use client';

import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';

/** Shown if the VM is deleted while its page is open. */
export function VmGone({ name }: { name: string }) {
  const { t } = useTranslation(['vms', 'common']);
  return (
    <Card>
      <EmptyState
        as="h1"
        title={t('vms:vm.gone', { name })}
        actions={
          <Button asChild>
            <Link href="/vms">{t('common:notFound.act')}</Link>
          </Button>
        }
      >
        <p>{t('vms:vm.gone.why')}</p>
      </EmptyState>
    </Card>
  );
}
