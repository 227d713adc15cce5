'use client';

import { ArrowUpDown, Ellipsis, EthernetPort, KeyRound, RotateCcwKey, Server, Trash2, Unplug } from 'lucide-react';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
import type { ModelAct } from './model-acts.ts';
import type { RoleLine } from './role-lines.ts';

export interface RoleMenuProps {
  line: RoleLine;
  /** Whether the menu also has the acts on the cloud service, which has no card. */
  hasServices: boolean;
  onAct(act: ModelAct): void;
}

/** The acts on a role. */
export function RoleMenu({ line: { role, service, ports }, hasServices, onAct }: RoleMenuProps) {
  const { t } = useTranslation('models');
  return (
    <LazyMenu
      trigger={
        <IconButton size="sm" label={t('role.more', { name: role.vm })}>
          <Ellipsis aria-hidden />
        </IconButton>
      }
    >
      {({ MenuItem, MenuSeparator }) => (
        <>
          <MenuItem asChild>
            <Link href={`/vms/${role.vmId}`}>
              <Server aria-hidden />
              {t('role.open')}
            </Link>
          </MenuItem>
          {role.state === 'ready' ? (
            <>
              <MenuItem onSelect={() => onAct({ kind: 'renew', what: 'token', role })}>
                <KeyRound aria-hidden />
                {t('role.token')}
              </MenuItem>
              <MenuItem onSelect={() => onAct({ kind: 'renew', what: 'password', role })}>
                <RotateCcwKey aria-hidden />
                {t('role.password')}
              </MenuItem>
            </>
          ) : null}
          {role.state === 'ready' ? (
            <>
              <MenuSeparator />
              <MenuItem onSelect={() => onAct({ kind: 'openPort', role })}>
                <EthernetPort aria-hidden />
                {t('ports.menu')}
              </MenuItem>
            </>
          ) : null}
          {ports
            .filter(({ source }) => source === 'operator')
            .map((port) => (
              <MenuItem
                key={`${port.protocol}${port.publicPort}`}
                onSelect={() => onAct({ kind: 'closePort', role, port })}
              >
                <Unplug aria-hidden />
                {t('ports.close.menu', { port: `${port.publicPort}/${port.protocol}` })}
              </MenuItem>
            ))}
          {hasServices && role.state === 'ready' ? (
            <MenuItem onSelect={() => onAct({ kind: 'swap', service })}>
              <ArrowUpDown aria-hidden />
              {t('act.swap')}
            </MenuItem>
          ) : null}
          <MenuSeparator />
          <MenuItem danger onSelect={() => onAct({ kind: 'removeMachine', role })}>
            <Trash2 aria-hidden />
            {t(role.state === 'deleting' ? 'act.removeForce' : 'act.remove')}
          </MenuItem>
        </>
      )}
    </LazyMenu>
  );
}
