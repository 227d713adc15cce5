'use client';

import { Cpu, Ellipsis, Server, Trash2 } from 'lucide-react';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
import type { ServiceAct } from '../service-acts.ts';
import { type ShownUnit, unitHref } from '../service-data.ts';

export interface UnitMenuProps {
  model: string;
  unit: ShownUnit;
  onAct(act: ServiceAct): void;
}

/** The acts on a unit. */
export function UnitMenu({ model, unit, onAct }: UnitMenuProps) {
  const { t } = useTranslation('services');
  return (
    <LazyMenu
      trigger={
        <IconButton size="sm" label={t('units.actsOn', { name: unit.unit })}>
          <Ellipsis aria-hidden />
        </IconButton>
      }
    >
      {({ MenuItem, MenuSeparator }) => (
        <>
          <MenuItem asChild>
            <Link href={unitHref(model, unit.unit)}>
              <Cpu aria-hidden />
              {t('keys.openUnit')}
            </Link>
          </MenuItem>
          <MenuItem asChild>
            <Link href={`/vms/${unit.vmId}`}>
              <Server aria-hidden />
              {t('units.openMachine')}
            </Link>
          </MenuItem>
          <MenuSeparator />
          <MenuItem danger onSelect={() => onAct({ kind: 'removeUnit', unit })}>
            <Trash2 aria-hidden />
            {t(unit.life === 'alive' ? 'act.removeUnit' : 'act.removeUnitForce')}
          </MenuItem>
        </>
      )}
    </LazyMenu>
  );
}
