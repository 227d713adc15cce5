'use client';

import {
  Cable,
  Ellipsis,
  KeyRound,
  Pause,
  PencilLine,
  Play,
  RotateCcwKey,
  Trash2,
  Undo2,
  Unplug,
  Waypoints,
} from 'lucide-react';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
import { modelHref } from '#app/(portal)/models/model-data.ts';
import type { VmFacts } from './vm-data.ts';
import type { VmAct } from './vm-dialogs.tsx';

export interface VmMenuProps {
  agentKind: VmFacts['agentKind'];
  isHeld: boolean;
  isDecommissioning: boolean;
  /** The role of the VM in its model, which removes it; null if it belongs to none. */
  role: VmFacts['role'];
  onAct(act: VmAct): void;
}

/** The menu of actions on a VM. */
export function VmMenu({ agentKind, isHeld, isDecommissioning, role, onAct }: VmMenuProps) {
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
          {agentKind === 'stock' ? null : (
            <MenuItem onSelect={() => onAct({ kind: 'token' })}>
              <KeyRound aria-hidden />
              {t('enrollment:token')}
            </MenuItem>
          )}
          {agentKind === null ? (
            <MenuItem onSelect={() => onAct({ kind: 'stock' })}>
              <Cable aria-hidden />
              {t('enrollment:stock')}
            </MenuItem>
          ) : null}
          {agentKind === 'stock' ? (
            <>
              <MenuItem onSelect={() => onAct({ kind: 'stock' })}>
                <KeyRound aria-hidden />
                {t('enrollment:stock.token')}
              </MenuItem>
              <MenuItem onSelect={() => onAct({ kind: 'stock-key' })}>
                <RotateCcwKey aria-hidden />
                {t('enrollment:stock.key')}
              </MenuItem>
              <MenuItem onSelect={() => onAct({ kind: 'stock-end' })}>
                <Unplug aria-hidden />
                {t('enrollment:stock.end')}
              </MenuItem>
            </>
          ) : null}
          {isHeld ? (
            <>
              <MenuItem onSelect={() => onAct({ kind: 'hold' })}>
                <Pause aria-hidden />
                {t('enrollment:hold.change')}
              </MenuItem>
              <MenuItem onSelect={() => onAct({ kind: 'release-hold' })}>
                <Play aria-hidden />
                {t('enrollment:hold.release')}
              </MenuItem>
            </>
          ) : (
            <MenuItem onSelect={() => onAct({ kind: 'hold' })}>
              <Pause aria-hidden />
              {t('enrollment:hold')}
            </MenuItem>
          )}
          <MenuSeparator />
          {role === null && agentKind === 'reference' && !isDecommissioning ? (
            <MenuItem onSelect={() => onAct({ kind: 'adopt' })}>
              <Waypoints aria-hidden />
              {t('vms:vm.adopt')}
            </MenuItem>
          ) : null}
          {role?.adopted && role.state !== 'deleting' ? (
            <MenuItem onSelect={() => onAct({ kind: 'give-back' })}>
              <Undo2 aria-hidden />
              {t('vms:vm.giveBack')}
            </MenuItem>
          ) : null}
          {role === null ? (
            <MenuItem danger onSelect={() => onAct({ kind: 'delete' })}>
              <Trash2 aria-hidden />
              {t('enrollment:delete')}
            </MenuItem>
          ) : (
            <MenuItem asChild>
              <Link href={modelHref(role.model)}>
                <Waypoints aria-hidden />
                {t('vms:vm.openModel')}
              </Link>
            </MenuItem>
          )}
        </>
      )}
    </LazyMenu>
  );
}
