'use client';

import { Ellipsis, KeyRound, PencilLine, Trash2 } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
import type { VmAct } from './vm-dialogs.tsx';

/** What can be done with a VM besides its extensions. */
export function VmMenu({ onAct }: { onAct(act: VmAct): void }) {
  const { t } = useTranslation(['vms', 'enrollment']);
  return (
    <LazyMenu
      trigger={
        <IconButton variant="default" label={t('vms:vm.more')}>
          <Ellipsis aria-hidden />
        </IconButton>
      }
    >
      {({ MenuItem, MenuSeparator }) => (
        <>
          <MenuItem onSelect={() => onAct({ kind: 'edit' })}>
            <PencilLine aria-hidden />
            {t('enrollment:edit')}
          </MenuItem>
          <MenuItem onSelect={() => onAct({ kind: 'token' })}>
            <KeyRound aria-hidden />
            {t('enrollment:token')}
          </MenuItem>
          <MenuSeparator />
          <MenuItem danger onSelect={() => onAct({ kind: 'delete' })}>
            <Trash2 aria-hidden />
            {t('enrollment:delete')}
          </MenuItem>
        </>
      )}
    </LazyMenu>
  );
}
