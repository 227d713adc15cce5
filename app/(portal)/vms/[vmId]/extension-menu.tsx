'use client';

import { CircleHelp, Ellipsis, PencilLine, Repeat, RotateCw, SquareTerminal, Trash2, Unplug } from 'lucide-react';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
import type { Retry } from './retry/use-retry.ts';
import { type Extension, editHref, tabHref } from './vm-data.ts';
import type { VmAct } from './vm-dialogs.tsx';

export interface ExtensionMenuProps {
  vmId: string;
  extension: Extension;
  retry: Retry;
  onAct(act: VmAct): void;
}

/** The menu of actions on an extension. */
export function ExtensionMenu({ vmId, extension, retry, onAct }: ExtensionMenuProps) {
  const { t } = useTranslation('reports');
  const { name, goal, goalSequenceNumber, handlerState } = extension;
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
            <>
              <MenuItem asChild>
                <Link href={editHref(vmId, name)}>
                  <PencilLine aria-hidden />
                  {t('card.edit')}
                </Link>
              </MenuItem>
              <MenuItem onSelect={() => retry.start(extension)}>
                <RotateCw aria-hidden />
                {t('retry')}
              </MenuItem>
              <MenuItem onSelect={() => onAct({ kind: 'retry', name, sequenceNumber: goalSequenceNumber })}>
                <Repeat aria-hidden />
                {t('retry.repeat')}
              </MenuItem>
            </>
          )}
          <MenuItem onSelect={() => onAct({ kind: 'why-version', name })}>
            <CircleHelp aria-hidden />
            {t('card.whyVersion')}
          </MenuItem>
          {handlerState?.outputTail ? (
            <MenuItem asChild>
              <Link href={tabHref(vmId, 'output', name)}>
                <SquareTerminal aria-hidden />
                {t('card.output')}
              </Link>
            </MenuItem>
          ) : null}
          <MenuSeparator />
          {goal === 'uninstall' ? null : (
            <MenuItem onSelect={() => onAct({ kind: 'remove', name, force: false })}>
              <Trash2 aria-hidden />
              {t('card.uninstall')}
            </MenuItem>
          )}
          <MenuItem danger onSelect={() => onAct({ kind: 'remove', name, force: true })}>
            <Unplug aria-hidden />
            {t('card.force')}
          </MenuItem>
        </>
      )}
    </LazyMenu>
  );
}
