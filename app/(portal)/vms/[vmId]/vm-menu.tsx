'use client';

import { Ellipsis } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
import type { VmMenuItemsProps } from './vm-menu-items.tsx';

/** The menu of actions on a VM. */
export function VmMenu(props: VmMenuItemsProps) {
  const { t } = useTranslation('vms');
  return (
    <LazyMenu
      load={() => import('./vm-menu-items.tsx')}
      trigger={
        <IconButton variant="default" label={t('vm.more')}>
          <Ellipsis aria-hidden />
        </IconButton>
      }
    >
      {({ VmMenuItems }) => <VmMenuItems {...props} />}
    </LazyMenu>
  );
}
