'use client';

import { Columns3 } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
import type { ColumnChoicesProps } from './column-choices.tsx';

/** A menu for the table's columns and density, which the browser stores. */
export function ColumnMenu({ look, onChange }: ColumnChoicesProps) {
  const { t } = useTranslation('vms');
  return (
    <LazyMenu
      trigger={
        <Button size="sm" className="max-sm:hidden">
          <Columns3 aria-hidden />
          {t('columns')}
        </Button>
      }
      load={() => import('./column-choices.tsx')}
    >
      {({ ColumnChoices }) => <ColumnChoices look={look} onChange={onChange} />}
    </LazyMenu>
  );
}
