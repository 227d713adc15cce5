'use client';

import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Facts, PageHeader } from '#app/_ui/page-header.tsx';
import { StatusBadge } from '#app/_ui/status.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import type { ShownModel } from '../../../model-data.ts';
import { countUnits, type ShownService } from '../service-data.ts';
import { useUnitsWords } from '../service-health.tsx';
import { Exposure } from '../service-table.tsx';

export interface ServiceHeadProps {
  model: ShownModel;
  service: ShownService;
}

/** The name, health and formula of a service, with its actions. */
export function ServiceHead({ service }: ServiceHeadProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const say = useUnitsWords();
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
          { label: t('column.exposed'), value: <Exposure service={service} /> },
        ]}
      />
    </PageHeader>
  );
}
