'use client';

import { Plus } from 'lucide-react';
import Link from 'next/link';
import { useState } from 'react';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import type { VmHealth } from '#server/domain/verdicts/words.ts';
import type { ShownModel } from '../../../model-data.ts';
import type { ServiceAct } from '../service-acts.ts';
import { countUnits, type ShownService, serviceHref } from '../service-data.ts';
import { UnitMenu } from './unit-menu.tsx';
import { UnitTable } from './unit-table.tsx';

/** Units that the table shows at first, and that each request for more adds. */
const pageUnits = 100;

export interface UnitsCardProps {
  model: ShownModel;
  service: ShownService;
  health: VmHealth | undefined;
  onAct(act: ServiceAct): void;
}

/** The units of a service, all or those with one health. */
export function UnitsCard({ model: shown, service, health, onAct }: UnitsCardProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const [most, setMost] = useState(pageUnits);
  const isOperator = useReader().can('operator');
  const may = isOperator && shown.life === 'alive';
  const { name: model } = shown;
  const { units, name } = service;
  const matching = health === undefined ? units : units.filter((unit) => unit.health === health);
  const hidden = Math.max(0, matching.length - most);
  return (
    <Card className="mb-4">
      <CardHeader
        title={t('column.units')}
        note={format.number(units.length)}
        actions={
          <>
            <HealthLinks model={model} service={service} current={health} />
            {may && service.life === 'alive' ? (
              <Button size="sm" onClick={() => onAct({ kind: 'addUnits', service })}>
                <Plus aria-hidden />
                {t('act.addUnits')}
              </Button>
            ) : null}
          </>
        }
      />
      {matching.length === 0 ? (
        <EmptyState
          as="h3"
          title={t(units.length === 0 ? 'units.none' : 'units.noneOfHealth')}
          actions={
            units.length === 0 ? undefined : (
              <Button asChild>
                <Link href={serviceHref(model, name)}>{t('units.all', { count: units.length })}</Link>
              </Button>
            )
          }
        >
          <p>{t(units.length === 0 ? 'units.none.why' : 'units.noneOfHealth.why')}</p>
        </EmptyState>
      ) : (
        <UnitTable
          model={model}
          service={service}
          units={matching.slice(0, most)}
          menuOf={may ? (unit) => <UnitMenu model={model} unit={unit} onAct={onAct} /> : undefined}
        />
      )}
      {hidden === 0 ? null : (
        <div className="border-t border-line-subtle px-4 py-2.5">
          <Button onClick={() => setMost(most + pageUnits)}>
            {t('model.more', { count: Math.min(hidden, pageUnits), hidden: format.number(hidden) })}
          </Button>
        </div>
      )}
    </Card>
  );
}

/** How many units have each health. Each number shows only these units. */
function HealthLinks({
  model,
  service: { name, units },
  current,
}: {
  model: string;
  service: ShownService;
  current: VmHealth | undefined;
}) {
  const { t } = useTranslation(['services', 'reports']);
  const format = useFormat();
  const counts = countUnits(units);
  if (counts.length < 2 && current === undefined) return null;
  const link =
    'inline-flex items-center gap-1 rounded-sm px-1.5 tabular-nums hover:bg-hover pointer-coarse:min-h-9 aria-[current=true]:bg-sunken aria-[current=true]:font-medium';
  return (
    <nav aria-label={t('services:units.filter')} className="flex flex-wrap gap-1 text-12">
      <Link href={serviceHref(model, name)} prefetch={false} aria-current={current === undefined} className={link}>
        {t('services:units.all', { count: units.length })}
      </Link>
      {counts.map(({ health, count }) => (
        <Link
          key={health}
          href={serviceHref(model, name, health)}
          prefetch={false}
          aria-current={current === health}
          data-st={statusOfHealth[health]}
          className={link}
        >
          <StatusIcon status={statusOfHealth[health]} className="size-3" />
          {format.number(count)}
          <span className="text-ink-2">{t(`reports:health.${health}`)}</span>
        </Link>
      ))}
    </nav>
  );
}
