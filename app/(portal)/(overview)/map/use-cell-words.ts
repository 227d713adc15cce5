'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { OverviewAnswers } from '../answers.ts';
import { useCause } from '../use-cause.ts';

export type MapVm = NonNullable<OverviewAnswers['cell']['cell']>;

/** Returns a VM's name, health and reasons, separated by commas; empty without a VM. */
export function useCellWords(vm: MapVm | null): string {
  const { t } = useTranslation(['reports', 'overview']);
  const cause = useCause();
  if (vm === null) return '';
  if (vm.health === 'unresponsive') return `${vm.name}, ${t('overview:card.silent')}`;
  const why = vm.troubles.map((trouble) => `${trouble.extension} ${cause(trouble)}`);
  return [vm.name, t(`reports:health.${vm.health}`), ...why].join(', ');
}
