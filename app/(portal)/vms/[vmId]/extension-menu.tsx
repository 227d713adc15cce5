'use client';

import { Ellipsis, PencilLine, SquareTerminal, Trash2, Unplug } from 'lucide-react';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
import { type Extension, editHref, tabHref } from './vm-data.ts';

export interface ExtensionMenuProps {
  vmId: string;
  extension: Extension;
  /** Opens the dialog that removes the extension; with `force`, without involving the agent. */
  onRemove(name: string, force: boolean): void;
}

/** The menu of actions on an extension. */
export function ExtensionMenu({ vmId, extension, onRemove }: ExtensionMenuProps) {
  const { t } = useTranslation('reports');
  const { name, goal, handlerState } = extension;
  return (
    <LazyMenu
      trigger={
        <IconButton size="sm" label={t('card.more', { name })} className="mt-0.5">
          <Ellipsis aria-hidden />
        </IconButton>
      }
    >
      {({ MenuItem, MenuSeparator }) => (
        <>
          {goal === 'uninstall' ? null : (
            <MenuItem asChild>
              <Link href={editHref(vmId, name)}>
                <PencilLine aria-hidden />
                {t('card.edit')}
              </Link>
            </MenuItem>
          )}
          {handlerState?.outputTail ? (
            <MenuItem asChild>
              <Link href={tabHref(vmId, 'output', name)}>
                <SquareTerminal aria-hidden />
                {t('card.output')}
              </Link>
            </MenuItem>
          ) : null}
          {goal === 'uninstall' && !handlerState?.outputTail ? null : <MenuSeparator />}
          {goal === 'uninstall' ? null : (
            <MenuItem onSelect={() => onRemove(name, false)}>
              <Trash2 aria-hidden />
              {t('card.uninstall')}
            </MenuItem>
          )}
          <MenuItem danger onSelect={() => onRemove(name, true)}>
            <Unplug aria-hidden />
            {t('card.force')}
          </MenuItem>
        </>
      )}
    </LazyMenu>
  );
}
