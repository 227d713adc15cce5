'use client';

import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Status } from '#app/_ui/status.tsx';
import { countUnits, missingRelations, type ShownService } from './service-data.ts';

/** The health of a service: how many of its units have the worst health, or what the service needs. */
export function ServiceHealth({ service }: { service: Pick<ShownService, 'life' | 'units' | 'endpoints'> }) {
  const { t } = useTranslation('services');
  const say = useUnitsWords();
  const { units, life } = service;
  const [worst] = countUnits(units);
  if (life !== 'alive') return <Status status="progressing">{t('service.dying')}</Status>;
  if (worst === undefined) return <Status status="waiting">{t('units.none')}</Status>;
  const isMissing = worst.health === 'degraded' && units.every(({ cause }) => cause === 'relation');
  return (
    <Status status={statusOfHealth[worst.health]}>
      {isMissing && missingRelations(service).length > 0 ? t('service.needsRelation') : say(worst, units.length)}
    </Status>
  );
}

/** Returns a function that says how many of all units have a health. */
export function useUnitsWords(): (counted: ReturnType<typeof countUnits>[number], all: number) => string {
  const { t } = useTranslation(['services', 'reports']);
  const format = useFormat();
  return ({ health, count }, all) =>
    count === all
      ? t(`reports:health.${health}`)
      : t(`services:units.some.${health}`, { count, all: format.number(all) });
}
