'use client';

import { Activity, Ellipsis } from 'lucide-react';
import Link from 'next/link';
import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { LazyMenu, type LazyMenuProps } from '#app/_ui/lazy-menu.tsx';

export interface MoreMenuProps {
  model: string;
  /** Renders the further actions. */
  children: LazyMenuProps<unknown>['children'];
}

/** The menu in the head of a model’s page: the activity of the model, and further actions. */
export function MoreMenu({ model, children }: MoreMenuProps): ReactNode {
  const { t } = useTranslation('models');
  return (
    <LazyMenu
      trigger={
        <IconButton variant="default" label={t('head.more')}>
          <Ellipsis aria-hidden />
        </IconButton>
      }
    >
      {(parts) => (
        <>
          <parts.MenuItem asChild>
            <Link href={`/activity?target=${encodeURIComponent(`model:${model}`)}`}>
              <Activity aria-hidden />
              {t('head.activity')}
            </Link>
          </parts.MenuItem>
          {children(parts)}
        </>
      )}
    </LazyMenu>
  );
}
