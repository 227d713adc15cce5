'use client';

import { Ellipsis } from 'lucide-react';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button, IconButton } from '#app/_ui/button.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Facts, PageHeader } from '#app/_ui/page-header.tsx';
import { StatusBadge } from '#app/_ui/status.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import type { ShownModel } from '../../../model-data.ts';
import type { ServiceAct } from '../service-acts.ts';
import { countUnits, type ShownService } from '../service-data.ts';
import { useUnitsWords } from '../service-health.tsx';
import { ServiceMenu } from '../service-menu.tsx';
import { Exposure } from '../service-table.tsx';

export interface ServiceHeadProps {
  model: ShownModel;
  service: ShownService;
  onAct(act: ServiceAct): void;
}

/** The name, health and formula of a service, with its actions. */
export function ServiceHead({ model, service, onAct }: ServiceHeadProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const say = useUnitsWords();
  const isOperator = useReader().can('operator');
  const may = isOperator && model.life === 'alive';
  const { name, formula, version, units, life, settingsVersion } = service;
  const [worst] = countUnits(units);
  return (
    <PageHeader
      title={<span translate="no">{name}</span>}
      badge={
        life !== 'alive' ? (
          <StatusBadge size="lg" status="progressing">
            {t('service.dying')}
          </StatusBadge>
        ) : worst === undefined ? undefined : (
          <StatusBadge size="lg" status={statusOfHealth[worst.health]}>
            {say(worst, units.length)}
          </StatusBadge>
        )
      }
      note={isOperator ? undefined : t('may.viewer.service')}
      actions={may ? <Actions service={service} onAct={onAct} /> : undefined}
    >
      <Facts
        items={[
          {
            label: t('column.formula'),
            value: (
              <TextLink href={`/handlers/${encodeURIComponent(formula)}`} translate="no" className="mono">
                {formula} {version}
              </TextLink>
            ),
          },
          { label: t('column.units'), value: format.number(units.length) },
          { label: t('column.settings'), value: t('settings.version', { version: format.number(settingsVersion) }) },
          {
            label: t('column.exposed'),
            value: (
              <span className="inline-flex flex-wrap items-baseline gap-x-2">
                <Exposure service={service} />
              </span>
            ),
          },
        ]}
      />
    </PageHeader>
  );
}

function Actions({ service, onAct }: Pick<ServiceHeadProps, 'service' | 'onAct'>) {
  const { t } = useTranslation('services');
  const isAlive = service.life === 'alive';
  return (
    <>
      <ServiceMenu
        service={service}
        onAct={onAct}
        trigger={
          <IconButton variant="default" label={t('service.more', { name: service.name })}>
            <Ellipsis aria-hidden />
          </IconButton>
        }
      />
      {isAlive ? (
        <>
          <Button onClick={() => onAct({ kind: 'upgrade', service })}>{t('act.upgrade')}</Button>
          <Button variant="primary" onClick={() => onAct({ kind: 'settings', service })}>
            {t('act.settings')}
          </Button>
        </>
      ) : null}
    </>
  );
}
