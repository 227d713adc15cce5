'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { OverviewAnswers } from '../answers.ts';
import { useCause } from '../use-cause.ts';

export type MapVm = NonNullable<OverviewAnswers['cell']['cell']>;

/** Describes a VM in one sentence: name, health and reasons. */
export function useCellWords(vm: MapVm | null): string {
  const { t } = useTranslation(['reports', 'overview']);
  const cause = useCause();
  if (vm === null) return '';
  if (vm.health === 'unresponsive') return `${vm.name}, ${t('overview:card.silent')}`;
  const why = vm.troubles.map((trouble) => `${trouble.extension} ${cause(trouble)}`);
  return [vm.name, t(`reports:health.${vm.health}`), ...why].join(', ');
}
