'use client';

import { Import, Plus, Power, Trash2 } from 'lucide-react';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Facts, PageHeader } from '#app/_ui/page-header.tsx';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import { StatusBadge } from '#app/_ui/status.tsx';
import type { VmHealth } from '#server/domain/verdicts/words.ts';
import { UnitHealthNumbers } from '../health-numbers.tsx';
import { type ShownMachine, type ShownModel, worstOf } from '../model-data.ts';
import { type ModelAct, takesMachines } from './model-acts.ts';
import type { ModelView } from './model-views.ts';
import { MoreMenu } from './more-menu.tsx';
import { countHealth } from './role-lines.ts';
import { type ServiceAct, takesServices } from './services/service-acts.ts';

export interface ModelHeadProps {
  model: ShownModel;
  view: ModelView;
  machines: readonly ShownMachine[];
  /** The units of all services by health; undefined while they load. */
  units: Partial<Record<VmHealth, number>> | undefined;
  /** How many things need attention. */
  needs: number;
  onAct(act: ModelAct): void;
  onServiceAct(act: ServiceAct): void;
}

/** The name, health and place of a model, with its actions. */
export function ModelHead({ model, machines, units, needs, ...acts }: ModelHeadProps) {
  const { t } = useTranslation(['models', 'reports']);
  const reader = useReader();
  const { name, location, storageAccount, affinityGroup, network, availabilitySetsEnabled, bootstrappedAt } = model;
  const health = countHealth(machines);
  const worst = worstOf(health);
  const isAlive = model.life === 'alive';
  return (
    <PageHeader
      title={<span translate="no">{name}</span>}
      badge={
        !isAlive ? (
          <StatusBadge size="lg" status="progressing">
            {t('models:head.destroying')}
          </StatusBadge>
        ) : bootstrappedAt === null ? (
          <StatusBadge size="lg" status="waiting">
            {t('models:head.notBootstrapped')}
          </StatusBadge>
        ) : worst === null ? undefined : (
          <StatusBadge size="lg" status={statusOfHealth[worst]}>
            {t(`reports:health.${worst}`)}
          </StatusBadge>
        )
      }
      note={isAlive && bootstrappedAt !== null && needs > 0 ? t('models:head.needs', { count: needs }) : undefined}
      actions={reader.can('operator') ? <Actions model={model} {...acts} /> : undefined}
    >
      <Facts
        items={[
          ...(units !== undefined && Object.keys(units).length === 0
            ? []
            : [
                {
                  label: t('models:column.units'),
                  value:
                    units === undefined ? (
                      <span className="inline-flex h-5 items-center align-middle pointer-coarse:h-7">
                        <Skeleton className="w-8" />
                      </span>
                    ) : (
                      <UnitHealthNumbers model={name} health={units} className="flex-wrap" />
                    ),
                },
              ]),
          { label: t('models:column.location'), value: <span translate="no">{location}</span> },
          { label: t('models:fact.affinityGroup'), value: <Code>{affinityGroup}</Code> },
          { label: t('models:fact.network'), value: <Code>{network}</Code> },
          { label: t('models:fact.storage'), value: <Code>{storageAccount}</Code> },
          { label: t('models:mode'), value: t(availabilitySetsEnabled ? 'models:mode.on' : 'models:mode.off') },
        ]}
      />
    </PageHeader>
  );
}

function Code({ children }: { children: string }) {
  return (
    <span translate="no" className="mono">
      {children}
    </span>
  );
}

function Actions({ model, view, onAct, onServiceAct }: Omit<ModelHeadProps, 'machines' | 'units' | 'needs'>) {
  const { t } = useTranslation(['models', 'services', 'common']);
  const isAlive = model.life === 'alive';
  return (
    <>
      <MoreMenu model={model.name}>
        {({ MenuItem, MenuSeparator }) => (
          <>
            {takesMachines(model) ? (
              <MenuItem onSelect={() => onAct({ kind: 'adoptMachine' })}>
                <Import aria-hidden />
                {t('services:adopt.menu')}
              </MenuItem>
            ) : null}
            <MenuSeparator />
            <MenuItem danger onSelect={() => onAct({ kind: 'destroy' })}>
              <Trash2 aria-hidden />
              {t(isAlive ? 'models:act.destroy' : 'models:act.destroyForce')}
            </MenuItem>
          </>
        )}
      </MoreMenu>
      {isAlive && model.bootstrappedAt === null ? (
        <Button variant="primary" onClick={() => onAct({ kind: 'bootstrap' })}>
          <Power aria-hidden />
          {t('models:act.bootstrap')}
        </Button>
      ) : null}
      {takesMachines(model) ? (
        <Button variant={view === 'topology' ? 'primary' : 'default'} onClick={() => onAct({ kind: 'addMachine' })}>
          <Plus aria-hidden />
          {t('models:act.addMachine')}
        </Button>
      ) : null}
      {takesServices(model) ? (
        <Button variant={view === 'services' ? 'primary' : 'default'} onClick={() => onServiceAct({ kind: 'deploy' })}>
          <Plus aria-hidden />
          {t('services:act.deploy')}
        </Button>
      ) : null}
    </>
  );
}
