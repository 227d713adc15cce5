'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { countUnits, type ShownRelation, type ShownService } from '../service-data.ts';
import { useUnitsWords } from '../service-health.tsx';

/**
 * Returns a function that says a service in one sentence, such as "wordpress, 3 units, 1 of 3 failed; requires mysql by
 * db".
 */
export function useServiceWords(): (service: ShownService, relations?: readonly ShownRelation[]) => string {
  const { t } = useTranslation('services');
  const format = useFormat();
  const say = useUnitsWords();
  return ({ name, units }, relations) => {
    const health = countUnits(units).map((counted) => say(counted, units.length));
    const size = units.length === 0 ? t('units.none') : t('units.count', { count: units.length });
    if (relations === undefined) return [size, ...health].join(', ');
    const required = relations.flatMap(({ endpoints }) => {
      const own = endpoints.find((one) => one.side === 'requires' && one.service === name);
      const other = endpoints.find((one) => one.side === 'provides');
      return own === undefined || other === undefined ? [] : [t('picture.by', { name: other.service, own: own.name })];
    });
    const words = [name, size, ...health].join(', ');
    return required.length === 0 ? words : t('picture.requires', { words, names: format.list(required) });
  };
}
