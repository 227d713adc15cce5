'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import type { QueueGroup } from './queue-groups.ts';

/** The commands of a group, such as "update 2.4.1, uninstall 2.4.0 and enable 2.4.1". */
export function StepsText({ steps }: Pick<QueueGroup, 'steps'>) {
  const { t } = useTranslation('reports');
  const format = useFormat();
  return format.list(steps.map(({ command, version }) => t('queue.step', { command, version })));
}
