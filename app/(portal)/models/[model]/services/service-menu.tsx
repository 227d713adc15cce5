'use client';

import { ArrowUpCircle, Cable, Ellipsis, EyeOff, Globe, Minus, Plus, SlidersHorizontal, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
import type { ServiceAct } from './service-acts.ts';
import type { ShownService } from './service-data.ts';

export interface ServiceMenuProps {
  service: ShownService;
  onAct(act: ServiceAct): void;
  /** The button that opens the menu, if it is not the small one of a row. */
  trigger?: ReactNode;
}

/** The acts on a service. A service that is being removed can only be removed without its agents. */
export function ServiceMenu({ service, onAct, trigger }: ServiceMenuProps) {
  const { t } = useTranslation('services');
  const { name, exposed, life, units } = service;
  return (
    <LazyMenu
      trigger={
        trigger ?? (
          <IconButton size="sm" label={t('service.more', { name })}>
            <Ellipsis aria-hidden />
          </IconButton>
        )
      }
    >
      {({ MenuItem, MenuSeparator }) => (
        <>
          {life !== 'alive' ? null : (
            <>
              <MenuItem onSelect={() => onAct({ kind: 'settings', service })}>
                <SlidersHorizontal aria-hidden />
                {t('act.settings')}
              </MenuItem>
              <MenuItem onSelect={() => onAct({ kind: 'upgrade', service })}>
                <ArrowUpCircle aria-hidden />
                {t('act.upgrade')}
              </MenuItem>
              <MenuItem onSelect={() => onAct({ kind: 'relate', service: name })}>
                <Cable aria-hidden />
                {t('act.relate')}
              </MenuItem>
              <MenuItem onSelect={() => onAct({ kind: 'expose', service })}>
                {exposed ? <EyeOff aria-hidden /> : <Globe aria-hidden />}
                {t(exposed ? 'act.hide' : 'act.expose')}
              </MenuItem>
              <MenuSeparator />
              <MenuItem onSelect={() => onAct({ kind: 'addUnits', service })}>
                <Plus aria-hidden />
                {t('act.addUnits')}
              </MenuItem>
              {units.some((unit) => unit.life === 'alive') ? (
                <MenuItem onSelect={() => onAct({ kind: 'removeUnits', service })}>
                  <Minus aria-hidden />
                  {t('act.removeUnits')}
                </MenuItem>
              ) : null}
              <MenuSeparator />
            </>
          )}
          <MenuItem danger onSelect={() => onAct({ kind: 'destroy', service })}>
            <Trash2 aria-hidden />
            {t(life === 'alive' ? 'act.destroy' : 'act.destroyForce')}
          </MenuItem>
        </>
      )}
    </LazyMenu>
  );
}
