'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';

/** Shown instead of the editor while the agent removes the extension. */
export function Leaving({ vm, name }: { vm: { id: string; name: string }; name: string }) {
  const { t } = useTranslation('editor');
  return (
    <Card>
      <EmptyState
        as="h1"
        status="progressing"
        title={t('uninstalling.title', { name })}
        actions={
          <Button asChild>
            <TextLink href={`/vms/${vm.id}`}>{t('back', { name: vm.name })}</TextLink>
          </Button>
        }
      >
        {t('uninstalling.why')}
      </EmptyState>
    </Card>
  );
}
