'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import type { useExecutions } from './use-executions.ts';

/** A button that loads older executions. Renders nothing if there are none. */
export function MoreButton({ list }: Pick<ReturnType<typeof useExecutions>, 'list'>) {
  const { t } = useTranslation('common');
  if (!list.hasNextPage) return null;
  return (
    <div className="border-t border-line-subtle p-2">
      <Button variant="ghost" busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
        {t('showMore')}
      </Button>
    </div>
  );
}
